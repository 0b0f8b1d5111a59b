package admissionregistration_test

import (
	"strings"
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidatePolicyBindings(t *testing.T) {
	binding := func(members string) string { return `{"spec":{"policyName":"p"` + members + `}}` }
	rows := func(members string) []kindtest.ValidationRow {
		return []kindtest.ValidationRow{
			{"valid", "", binding(members), ""},
			{"parameters", "", binding(members + `,"paramRef":{"name":"a","parameterNotFoundAction":"Deny"},"matchResources":{}`), ""},
			{"no parameters", "", binding(members + `,"paramRef":{}`), "[spec.paramRef: Required value: one of name or selector must be specified, spec.paramRef.parameterNotFoundAction: Required value]"},
			{"name and selector", "", binding(members + `,"paramRef":{"name":"a","selector":{},"parameterNotFoundAction":"b"}`), `[spec.paramRef.name: Forbidden: name and selector are mutually exclusive, spec.paramRef.selector: Forbidden: name and selector are mutually exclusive, spec.paramRef.parameterNotFoundAction: Unsupported value: "b": supported values: "Deny", "Allow"]`},
			{"no policy", "", `{"spec":{` + strings.TrimPrefix(members, ",") + `}}`, "spec.policyName: Required value"},
		}
	}
	kindtest.TestValidation(t, "validatingadmissionpolicybindings.admissionregistration.k8s.io", append(rows(`,"validationActions":["Deny"]`), []kindtest.ValidationRow{
		{"no actions", "", binding(``), "spec.validationActions: Required value"},
		{"actions", "", binding(`,"validationActions":["Deny","Warn","a","a"]`), `[spec.validationActions[2]: Unsupported value: "a": supported values: "Audit", "Deny", "Warn", spec.validationActions[3]: Unsupported value: "a": supported values: "Audit", "Deny", "Warn", spec.validationActions[3]: Duplicate value: "a", spec.validationActions: Invalid value: ["Deny","Warn","a","a"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)]`},
	}...))
	kindtest.TestValidation(t, "mutatingadmissionpolicybindings.admissionregistration.k8s.io", append(rows(``), []kindtest.ValidationRow{
		{"deletions", "", binding(`,"matchResources":{"resourceRules":[{"operations":["DELETE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]}`), `spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"`},
	}...))
}
