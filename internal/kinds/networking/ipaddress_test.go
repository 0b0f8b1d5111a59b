package networking_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateIPAddress(t *testing.T) {
	const base = `{"metadata":{"name":"10.0.0.1"},"spec":{"parentRef":{"resource":"services","namespace":"n","name":"a"}}}`
	kindtest.TestPatched(t, "ipaddresses.networking.k8s.io", base, []kindtest.PatchRow{
		{"no parent", `{"spec":null}`, `spec.parentRef: Required value`},
		{"parts", `{"spec":{"parentRef":{"resource":"a/b","namespace":"%","name":null}}}`, kindtest.Errors(
			`spec.parentRef.resource: Invalid value: "a/b": may not contain '/'`,
			`spec.parentRef.namespace: Invalid value: "%": may not contain '%'`,
			`spec.parentRef.name: Required value`)},
	})
	kindtest.TestPatchedUpdates(t, "ipaddresses.networking.k8s.io", base, []kindtest.PatchRow{
		{"no name", `{"spec":{"parentRef":{"name":null}}}`, kindtest.Errors(`spec.parentRef.name: Required value`, `spec.parentRef: Invalid value: null: field is immutable`)},
		{"none", `{"spec":null}`, kindtest.Errors(`spec.parentRef: Required value`, `spec.parentRef: Invalid value: null: field is immutable`)},
		{"parent", `{"spec":{"parentRef":{"name":"b"}}}`,
			`spec.parentRef: Invalid value: null: field is immutable`},
	})
}
