package controllers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

func policyWith(rule, paramKind, expression string) string {
	return fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: p}, spec: {%s
  matchConstraints: {resourceRules: [{operations: [CREATE], %s}]}, variables: [{name: spec, expression: object.spec}, {name: bad, expression: object.none}],
  validations: [{expression: "%s"}]}}`, paramKind, rule, expression)
}

func TestPolicyStatusTypeChecking(t *testing.T) {
	t.Parallel()
	const (
		definition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.com}, spec: {group: example.com, scope: Namespaced,
  names: {plural: gadgets, kind: Gadget}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object,
  properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}]}}`

		apps    = `apiGroups: [apps], apiVersions: [v1], resources: [deployments]`
		gadgets = `apiGroups: [example.com], apiVersions: [v1], resources: [gadgets]`
	)
	undefined := func(kind, field, text string, column int) string {
		return fmt.Sprintf("%s: ERROR: <input>:1:%d: undefined field '%s'\n | %s\n | %s^\n", kind, column, field, text, strings.Repeat(".", column-1))
	}
	tests := []struct{ name, rule, params, expression, warning string }{
		{"well typed", apps, "", "object.spec.replicas > 1 && object.metadata.labels['a'] == 'b'", ""},
		{"no such field", apps, "", "object.foo == 1", undefined("apps/v1, Kind=Deployment", "foo", "object.foo == 1", 7)},
		{"of a custom resource", gadgets, "", "object.spec.color == 'red'", undefined("example.com/v1, Kind=Gadget", "color", "object.spec.color == 'red'", 12)},
		{"metadata of a custom resource", gadgets, "", "object.metadata.labels['a'] == 'b' && object.spec.size > 1", ""},
		{"params", apps, "paramKind: {apiVersion: example.com/v1, kind: Gadget},", "params.spec.none == 1", undefined("apps/v1, Kind=Deployment", "none", "params.spec.none == 1", 12)},
		{"params of an unknown kind", apps, "paramKind: {apiVersion: example.com/v1, kind: Other},", "params.spec.none == 1", ""},
		{"a variable of an object is dynamic", apps, "", "variables.spec.none == 1", ""},
		{"a variable that does not compile is dynamic", apps, "", "variables.bad.none == 1", ""},
		{"an unknown resource", `apiGroups: [apps], apiVersions: [v1], resources: [gadgets]`, "", "object.foo == 1", ""},
		{"a wildcard", `apiGroups: ['*'], apiVersions: [v1], resources: [deployments]`, "", "object.foo == 1", ""},
		{"a subresource", `apiGroups: [apps], apiVersions: [v1], resources: [deployments/scale]`, "", "object.foo == 1", ""},
		{"two types", `apiGroups: [apps], apiVersions: [v1], resources: [statefulsets, deployments]`, "", "object.foo == 1",
			undefined("apps/v1, Kind=Deployment", "foo", "object.foo == 1", 7) + "\n" + undefined("apps/v1, Kind=StatefulSet", "foo", "object.foo == 1", 7)},
		{"the legacy group is every group", `apiGroups: [''], apiVersions: [v1], resources: [deployments]`, "", "object.foo == 1", undefined("apps/v1, Kind=Deployment", "foo", "object.foo == 1", 7)},
		{"a recursive type", `apiGroups: [apiextensions.k8s.io], apiVersions: [v1], resources: [customresourcedefinitions]`, "", "object.spec.group == 'a'", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startCluster(t, "validatingadmissionpolicy-status-controller")
			c.Put(definition)
			c.Create("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", policyWith(tt.rule, tt.params, tt.expression))
			c.Settle()
			status := object.Value(c.Get("validatingadmissionpolicies.admissionregistration.k8s.io", "", "p"), "status")
			checks := map[string]any{}
			if tt.warning != "" {
				checks["expressionWarnings"] = []any{map[string]any{"fieldRef": "spec.validations[0].expression", "warning": tt.warning}}
			}
			assert.Equal(t, map[string]any{"observedGeneration": int64(1), "typeChecking": checks}, status)
		})
	}
}
