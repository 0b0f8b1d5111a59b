package apps_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateReplicaSet(t *testing.T) {
	kindtest.TestPatched(t, "replicasets.apps", workload(""), []kindtest.PatchRow{
		{"empty selector", `{"spec":{"selector":{"matchLabels":null}}}`, `spec.selector: Invalid value: {}: empty selector is invalid for deployment`},
		{"numbers", `{"spec":{"replicas":-1,"minReadySeconds":-2}}`, kindtest.Errors(
			`spec.replicas: Invalid value: -1: must be greater than or equal to 0`, `spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0`)},
	})
	kindtest.TestPatchedUpdates(t, "replicasets.apps", workload(""), []kindtest.PatchRow{
		{"selector", `{"spec":{"selector":{"matchLabels":{"a":null,"c":"d"}},"template":{"metadata":{"labels":{"c":"d"}}}}}`,
			`spec.selector: Invalid value: {"matchLabels":{"c":"d"}}: field is immutable`},
	})
}
