package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
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

func TestPrepareDisruptionBudget(t *testing.T) {
	const nothing = `{"key":"pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match","operator":"Exists"}`
	typ := kindtest.TypeOf(t, "poddisruptionbudgets.policy")
	for _, row := range []struct{ name, selector, old, want string }{
		{"no selector", `null`, "", `null`},
		{"all", `{}`, "", `{}`},
		{"nothing", `{"matchExpressions":[` + nothing + `]}`, "", `{"matchExpressions":[` + nothing + `]}`},
		{"with labels", `{"matchLabels":{"a":"b"},"matchExpressions":[` + nothing + `]}`, "", `{"matchLabels":{"a":"b"},"matchExpressions":[]}`},
		{"with another expression", `{"matchExpressions":[` + nothing + `,{"key":"a","operator":"Exists"}]}`, "", `{"matchExpressions":[{"key":"a","operator":"Exists"}]}`},
		{"unchanged", `{"matchLabels":{"a":"b"},"matchExpressions":[` + nothing + `]}`, `{"matchLabels":{"a":"b"},"matchExpressions":[` + nothing + `]}`, `{"matchLabels":{"a":"b"},"matchExpressions":[` + nothing + `]}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			budget := func(selector string) map[string]any {
				return kindtest.Decode(t, typ, `{"metadata":{"name":"a"},"spec":{"selector":`+selector+`}}`)
			}
			obj, old := budget(row.selector), map[string]any(nil)
			if row.old != "" {
				old = budget(row.old)
			}
			typ.Prepare(obj, object.ViewOf(old))
			got, err := json.Marshal(obj["spec"].(map[string]any)["selector"])
			require.NoError(t, err)
			assert.JSONEq(t, row.want, string(got))
		})
	}
}
