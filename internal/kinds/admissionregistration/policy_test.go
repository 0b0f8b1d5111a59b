package admissionregistration_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

const matchAll = `"resourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]`

func TestValidatePolicies(t *testing.T) {
	policy := func(members string) string {
		return `{"metadata":{"name":"p"},"spec":{"matchConstraints":{` + matchAll + `}` + members + `}}`
	}
	shared := func(members string) []kindtest.ValidationRow {
		match := func(constraints string) string {
			return `{"metadata":{"name":"p"},"spec":{"matchConstraints":{` + constraints + `}` + members + `}}`
		}
		return []kindtest.ValidationRow{
			{"valid", "", policy(members), ""},
			{"failure", "", policy(members + `,"failurePolicy":"a"`), `spec.failurePolicy: Unsupported value: "a": supported values: "Fail", "Ignore"`},
			{"no matchConstraints", "", `{"spec":{` + members[1:] + `}}`, "spec.matchConstraints: Required value"},
			{"no rules", "", match(``), "spec.matchConstraints.resourceRules: Required value"},
			{"names", "", match(`"matchPolicy":"a","resourceRules":[{"resourceNames":["b","b","/"],"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]`), `[spec.matchConstraints.matchPolicy: Unsupported value: "a": supported values: "Equivalent", "Exact", spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "b", spec.matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: "/": may not contain '/']`},
			{"parameters", "", policy(members + `,"paramKind":{}`), "[spec.paramKind.apiVersion: Required value, spec.paramKind.kind: Required value]"},
			{"slashes", "", policy(members + `,"paramKind":{"apiVersion":"a/b/c","kind":"K"}`), `spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`},
			{"no version", "", policy(members + `,"paramKind":{"apiVersion":"a/","kind":"K"}`), `spec.paramKind.apiVersion: Invalid value: "a/": version must be specified`},
			{"kind", "", policy(members + `,"paramKind":{"apiVersion":"v1","kind":"K_"}`), `spec.paramKind.kind: Invalid value: "K_": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`},
			{"variables", "", policy(members + `,"variables":[{"name":"a","expression":"1"},{"name":" ","expression":" "},{"name":"in","expression":"1"},{"name":"1","expression":"1"}]`), `[spec.variables[1].name: Required value: name is not specified, spec.variables[1].expression: Required value: expression is not specified, spec.variables[2].name: Invalid value: "in": must be a valid CEL identifier, spec.variables[3].name: Invalid value: "1": must be a valid CEL identifier]`},
			{"many conditions", "", policy(members + `,"matchConditions":[` + strings.Repeat(`{"name":"","expression":"true"},`, 64) + `{"name":"a","expression":"true"}]`), "[spec.matchConditions: Too many: 65: must have at most 64 items" + missingNameErrors(64) + "]"},
		}
	}
	validations := `,"validations":[{"expression":"true"}]`
	kindtest.TestValidation(t, "validatingadmissionpolicies.admissionregistration.k8s.io", append(shared(validations), []kindtest.ValidationRow{
		{"nothing", "", policy(``), "[spec.validations: Required value: validations or auditAnnotations must contain at least one item, spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item]"},
		{"validation", "", policy(`,"validations":[{"expression":" ","messageExpression":" ","message":" ","reason":"Odd"},{"expression":"true","message":"a\nb"}]`), `[spec.validations[0].expression: Required value: expression is not specified, spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified, spec.validations[0].message: Invalid value: " ": must be non-empty if specified, spec.validations[0].reason: Unsupported value: "Odd": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge", spec.validations[1].message: Invalid value: "a\nb": must not contain line breaks]`},
		{"message with a trailing newline", "", policy(`,"validations":[{"expression":"true","message":"a\n"}]`), ""},
		{"annotations", "", policy(`,"auditAnnotations":[{"key":"a","valueExpression":"'b'"},{"key":"a","valueExpression":""},{"key":"c","valueExpression":"'` + strings.Repeat("x", 5<<10) + `'"}]`), `[spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified, spec.auditAnnotations[1].key: Duplicate value: "a", spec.auditAnnotations[2].valueExpression: Required value: must not exceed 5120 bytes in length]`},
		{"key", "", policy(`,"auditAnnotations":[{"key":"a b","valueExpression":"'b'"}]`), `spec.auditAnnotations[0].key: Invalid value: "p/a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`},
	}...))
	mutations := `,"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'test', path: '/a'}]"}}]`
	mutate := func(list string) string { return policy(`,"reinvocationPolicy":"Never","mutations":` + list) }
	kindtest.TestValidation(t, "mutatingadmissionpolicies.admissionregistration.k8s.io", append(shared(mutations), []kindtest.ValidationRow{
		{"nothing", "", policy(``), "[spec.mutations: Required value: mutations must contain at least one item, spec.reinvocationPolicy: Required value]"},
		{"deletions", "", `{"spec":{"matchConstraints":{"resourceRules":[{"operations":["DELETE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]}` + mutations + `}}`, `spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"`},
		{"patch types", "", mutate(`[{},{"patchType":"a"},{"patchType":"JSONPatch","applyConfiguration":{"expression":"a"}},{"patchType":"ApplyConfiguration","jsonPatch":{"expression":""},"applyConfiguration":{"expression":" "}}]`), `[spec.mutations[0].patchType: Required value, spec.mutations[1].patchType: Unsupported value: "a": supported values: "ApplyConfiguration", "JSONPatch", spec.mutations[2].jsonPatch: Required value: must be specified when patchType is JSONPatch, spec.mutations[2].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch, spec.mutations[3].applyConfiguration.expression: Required value, spec.mutations[3].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration]`},
	}...))
}

func missingNameErrors(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ", spec.matchConditions[%d].name: Required value", i)
	}
	return b.String()
}

func TestValidatePolicyStatus(t *testing.T) {
	kindtest.TestStatusValidation(t, "validatingadmissionpolicies.admissionregistration.k8s.io", []kindtest.ValidationRow{
		{"warnings", `{}`, `{"status":{"typeChecking":{"expressionWarnings":[{"warning":"a","fieldRef":"spec.validations[0].expression"},{"fieldRef":" "}]}}}`, "[status.typeChecking.expressionWarnings[1].warning: Required value, status.typeChecking.expressionWarnings[1].fieldRef: Required value]"},
	})
}
