package core_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestDefaultResourceQuotas(t *testing.T) {
	kindtest.TestDefaults(t, "resourcequotas", []kindtest.Row{{"rounded quantity", `{"spec":{"hard":{"cpu":"1n"}}}`, "spec.hard", `{"cpu":"1m"}`}})
}

func TestValidateResourceQuotas(t *testing.T) {
	const notQuota = "must be a standard resource for quota"
	kindtest.TestValidation(t, "resourcequotas", []kindtest.ValidationRow{
		{"valid", "", `{"spec":{"hard":{"pods":"1","count/a.b":"2"},"scopes":["BestEffort"]}}`, ""},
		{"unknown resources", "", `{"spec":{"hard":{"a":"1","storage":"1"}}}`, `[spec.hard[a]: Invalid value: "a": ` + unknownResource + `, spec.hard[a]: Invalid value: "a": ` + notQuota + `, spec.hard[storage]: Invalid value: "storage": ` + notQuota + `]`},
		{"invalid quantities", "", `{"spec":{"hard":{"pods":"1500m","cpu":"-1"}}}`, `[spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0, spec.hard[pods]: Invalid value: "1500m": must be an integer]`},
		{"conflicting scopes", "", `{"spec":{"hard":{"cpu":"1"},"scopes":["BestEffort","NotBestEffort"]}}`, `[spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: unsupported scope applied to resource, spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes]`},
		{"scope selector", "", `{"spec":{"scopeSelector":{"matchExpressions":[{"scopeName":"Odd","operator":"In"},{"scopeName":"PriorityClass","operator":"Exists","values":["a"]},{"scopeName":"Terminating","operator":"Is"}]}}}`,
			"[spec.scopeSelector.matchExpressions.scopeName: Invalid value: \"Odd\": unsupported scope, spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector, " +
				"spec.scopeSelector.matchExpressions.values: Invalid value: [\"a\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector, " +
				"spec.scopeSelector.matchExpressions.operator: Invalid value: \"Is\": must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity, " +
				"spec.scopeSelector.matchExpressions.operator: Invalid value: \"Is\": not a valid selector operator]"},
		{"changed scopes", `{"spec":{"scopes":["BestEffort"]}}`, `{"spec":{}}`, "spec.scopes: Invalid value: null: field is immutable"},
	})
	typ := kindtest.TypeOf(t, "resourcequotas")
	obj := kindtest.Decode(t, typ, `{"spec":{"hard":{"cpu":"2","limits.cpu":"1"}}}`)
	assert.Equal(t, []string{"ResourceQuota cpu (2) should be less than limits.cpu (1)"}, typ.WarningsOnWrite(obj, object.View{}))
	assert.Empty(t, typ.WarningsOnWrite(obj, object.ViewOf(obj)))
}
