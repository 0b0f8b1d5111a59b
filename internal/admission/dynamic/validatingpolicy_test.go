//go:build go1.24

package dynamic

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/admission"
)

// policies returns a policy that matches all requests, and its binding. kind is
// "Validating" or "Mutating".
func policies(kind, spec, binding string) []string {
	return []string{
		fmt.Sprintf(`{"kind":%q,"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]},%s}}`, kind+"AdmissionPolicy", spec),
		fmt.Sprintf(`{"kind":%q,"metadata":{"name":"b"},"spec":{"policyName":"p"%s}}`, kind+"AdmissionPolicyBinding", binding),
	}
}

func TestValidatingPolicies(t *testing.T) {
	const (
		by   = `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `
		deny = `,"validationActions":["Deny"]`
		kind = `"paramKind":{"apiVersion":"v1","kind":"ServiceAccount"},`
	)
	params := []map[string]any{decode(t, namespace), decode(t, `{"kind":"ServiceAccount","metadata":{"name":"one","namespace":"n","labels":{"x":"y"}}}`), decode(t, `{"kind":"ServiceAccount","metadata":{"name":"two","namespace":"n","labels":{"x":"y"}}}`)}
	for _, tt := range []struct {
		name, spec, binding string
		want                string
		code                int
		warnings            []string
	}{
		{name: "true", spec: `"validations":[{"expression":"object.data.k == 'v' && request.operation == 'CREATE' && namespaceObject.metadata.labels.tier == 'gold'"}]`, binding: deny},
		{name: "false", spec: `"validations":[{"expression":" object.data.k == 'w' "}]`, binding: deny, want: by + "failed expression: object.data.k == 'w'", code: 422},
		{name: "reason", spec: `"validations":[{"expression":"false","message":"m","reason":"Forbidden"}]`, binding: deny, want: by + "m", code: 403},
		{name: "message", spec: `"variables":[{"name":"k","expression":"object.data.k"}],"validations":[{"expression":"false","message":"m","messageExpression":"'k is ' + variables.k"}]`, binding: deny, want: by + "k is v", code: 422},
		{name: "message that fails", spec: `"validations":[{"expression":"false","message":"m","messageExpression":"string(object.x)"}]`, binding: deny, want: by + "m", code: 422},
		{name: "multi-line message", spec: `"validations":[{"expression":"false","messageExpression":"'a\\nb'"}]`, binding: deny, want: by + "failed expression: false", code: 422},
		{name: "expression that fails", spec: `"validations":[{"expression":"object.x == 1"}]`, binding: deny, want: by + "expression 'object.x == 1' resulted in error: no such key: x", code: 422},
		{name: "expression that fails, ignored", spec: `"failurePolicy":"Ignore","validations":[{"expression":"object.x == 1"}]`, binding: deny},
		{name: "warn action", spec: `"validations":[{"expression":"false"}]`, binding: `,"validationActions":["Warn","Audit"]`, warnings: []string{"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': failed expression: false"}},
		{name: "match condition", spec: `"matchConditions":[{"name":"c","expression":"request.userInfo.username != 'alice'"}],"validations":[{"expression":"false"}]`, binding: deny},
		{name: "match condition that fails", spec: `"matchConditions":[{"name":"c","expression":"object.x == 1"},{"name":"d","expression":"object.y == 1"}],"validations":[{"expression":"true"}]`, binding: deny,
			want: by + "[expression 'object.x == 1' resulted in error: no such key: x, expression 'object.y == 1' resulted in error: no such key: y]", code: 422},
		{name: "binding that does not match", spec: `"validations":[{"expression":"false"}]`, binding: deny + `,"matchResources":{"objectSelector":{"matchLabels":{"app":"db"}}}`},
		{name: "audit annotation that fails", spec: `"auditAnnotations":[{"key":"k","valueExpression":"string(object.x)"}]`, binding: `,"validationActions":["Audit"]`, want: by + "expression 'string(object.x)' resulted in error: no such key: x", code: 422},
		{name: "authorizer", spec: `"validations":[{"expression":"authorizer.requestResource.check('get').allowed()"}]`, binding: deny, want: by + "failed expression: authorizer.requestResource.check('get').allowed()", code: 422},
		{name: "parameter", spec: kind + `"validations":[{"expression":"params.metadata.name == 'two'","messageExpression":"string(params.metadata.name)"}]`, binding: deny + `,"paramRef":{"name":"one"}`, want: by + "one", code: 422},
		{name: "parameters", spec: kind + `"validations":[{"expression":"params.metadata.name == 'one'","messageExpression":"string(params.metadata.name)"}]`, binding: deny + `,"paramRef":{"selector":{"matchLabels":{"x":"y"}}}`, want: by + "two", code: 422},
		{name: "no parameter", spec: kind + `"validations":[{"expression":"false"}]`, binding: deny + `,"paramRef":{"name":"none","parameterNotFoundAction":"Allow"}`},
		{name: "no parameter, denied", spec: kind + `"validations":[{"expression":"true"}]`, binding: `,"paramRef":{"name":"none","parameterNotFoundAction":"Deny"}`,
			want: by + "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction", code: 422},
		{name: "unknown paramKind", spec: `"paramKind":{"apiVersion":"a.b/v1","kind":"None"},"validations":[{"expression":"true"}]`, binding: deny + `,"paramRef":{"name":"one"}`,
			want: `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'a.b/v1, Kind=None'`, code: 422},
		{name: "cost limit", spec: `"validations":[{"expression":"[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, a+b+c+d+e+f > 0))))))"}]`, binding: deny,
			want: by + "expression '[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, a+b+c+d+e+f > 0))))))' resulted in error: operation cancelled: actual cost limit exceeded", code: 422},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{Types: newTypes(t), objects: params}
			snapshot := newSnapshot(t, policies("Validating", tt.spec, tt.binding)...)
			a := newAttributes(t, s, admission.Create, configMap, "")
			err := snapshot.Validate(t.Context(), a, s)
			assertStatus(t, tt.want, tt.code, err)
			assert.Equal(t, tt.warnings, a.Warnings)
		})
	}
}
