package policy_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateDisruptionBudget(t *testing.T) {
	const name = "poddisruptionbudgets.policy"
	kindtest.TestPatched(t, name, `{"metadata":{"name":"a"},"spec":{"minAvailable":1}}`, []kindtest.PatchRow{
		{"both", `{"spec":{"maxUnavailable":"1%"}}`,
			`spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"1%","UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set`},
		{"number", `{"spec":{"minAvailable":-1}}`, `spec.minAvailable: Invalid value: -1: must be greater than or equal to 0`},
		{"percentage", `{"spec":{"minAvailable":"200%"}}`, `spec.minAvailable: Invalid value: "200%": must not be greater than 100%`},
		{"policy", `{"spec":{"unhealthyPodEvictionPolicy":"X"}}`,
			`spec.unhealthyPodEvictionPolicy: Unsupported value: "X": supported values: "AlwaysAllow", "IfHealthyBudget"`},
	})
	kindtest.TestPatchedStatus(t, name, `{}`, []kindtest.PatchRow{
		{"numbers", `{"status":{"expectedPods":-1,"conditions":[{"type":"a","status":"True","reason":"R","lastTransitionTime":null}]}}`, kindtest.Errors(
			`status.conditions[0].lastTransitionTime: Required value`, `status.expectedPods: Invalid value: -1: must be greater than or equal to 0`)},
	})
}
