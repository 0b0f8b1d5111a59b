package networking_test

import (
	"strings"
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateIngressClass(t *testing.T) {
	const base = `{"metadata":{"name":"a"},"spec":{"controller":"a.io/b","parameters":{"kind":"K","name":"n"}}}`
	kindtest.TestPatched(t, "ingressclasses.networking.k8s.io", base, []kindtest.PatchRow{
		{"no controller", `{"spec":{"controller":null}}`, `spec.controller: Required value`},
		{"long controller", `{"spec":{"controller":"a.io/` + strings.Repeat("x", 250) + `"}}`, `spec.controller: Too long: may not be more than 250 bytes`},
		{"scope", `{"spec":{"parameters":{"scope":"All"}}}`, `spec.parameters.scope: Unsupported value: "All": supported values: "Cluster", "Namespace"`},
		{"namespace needed", `{"spec":{"parameters":{"scope":"Namespace"}}}`, "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"},
		{"namespace not allowed", `{"spec":{"parameters":{"namespace":"x"}}}`, "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"},
	})
	kindtest.TestPatchedUpdates(t, "ingressclasses.networking.k8s.io", base, []kindtest.PatchRow{
		{"controller", `{"spec":{"controller":"a.io/c"}}`, `spec.controller: Invalid value: "a.io/c": field is immutable`},
	})
}
