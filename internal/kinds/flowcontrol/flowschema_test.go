package flowcontrol_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateFlowSchemas(t *testing.T) {
	const level = `"priorityLevelConfiguration":{"name":"l"}`
	rule := func(members string) string { return `{"spec":{` + level + `,"rules":[{` + members + `}]}}` }
	const subjects = `"subjects":[{"kind":"Group","group":{"name":"g"}}]`
	resources := func(members string) string { return rule(subjects + `,"resourceRules":[{` + members + `}]`) }
	paths := func(members string) string { return rule(subjects + `,"nonResourceRules":[{` + members + `}]`) }
	kindtest.TestValidation(t, "flowschemas.flowcontrol.apiserver.k8s.io", []kindtest.ValidationRow{
		{"valid", "", resources(`"verbs":["get"],"apiGroups":["*"],"resources":["*"],"namespaces":["a"]`), ""},
		{"no level", "", `{}`, "spec.priorityLevelConfiguration.name: Required value: must reference a priority level"},
		{"negative precedence", "", `{"spec":{` + level + `,"matchingPrecedence":-1}}`, "spec.matchingPrecedence: Invalid value: -1: must be a positive value"},
		{"too large precedence", "", `{"spec":{` + level + `,"matchingPrecedence":10001}}`, "spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"},
		{"first precedence", "", `{"spec":{` + level + `,"matchingPrecedence":1}}`, "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"},
		{"distinguisher", "", `{"spec":{` + level + `,"distinguisherMethod":{"type":"a"}}}`, `spec.distinguisherMethod.type: Unsupported value: {"Type":"a"}: supported values: "ByNamespace", "ByUser"`},
		{"empty rule", "", rule(``), "[spec.rules[0].subjects: Required value: subjects must contain at least one value, spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty]"},
		{"subjects", "", rule(`"subjects":[{"kind":"User"},{"kind":"Group","group":{"name":""},"user":{"name":"u"}},{"kind":"a"},{"kind":"ServiceAccount","serviceAccount":{"name":"*","namespace":""}}],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]`),
			`[spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User', spec.rules[0].subjects[1].group.name: Required value, spec.rules[0].subjects[1].user: Forbidden: user is forbidden when subject kind is not 'User', spec.rules[0].subjects[2].kind: Unsupported value: "a": supported values: "Group", "ServiceAccount", "User", spec.rules[0].subjects[3].serviceAccount.namespace: Required value: must specify namespace for service account]`},
		{"empty resource rule", "", resources(``), "[spec.rules[0].resourceRules[0].verbs: Required value: verbs must contain at least one value, spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group, spec.rules[0].resourceRules[0].resources: Required value: resource rules must supply at least one resource, spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace]"},
		{"wildcards", "", resources(`"verbs":["*","get"],"apiGroups":["*","a"],"resources":["*","a"],"namespaces":["*","a"]`), `[spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs, spec.rules[0].resourceRules[0].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other api groups, spec.rules[0].resourceRules[0].resources: Invalid value: ["*","a"]: if '*' is present, must not specify other resources, spec.rules[0].resourceRules[0].namespaces: Invalid value: ["*","a"]: if '*' is present, must not specify other namespaces]`},
		{"cluster scope", "", resources(`"verbs":["get"],"apiGroups":["*"],"resources":["*"],"clusterScope":true`), ""},
		{"verbs", "", resources(`"verbs":["get","a"],"apiGroups":["*"],"resources":["*"],"namespaces":["*"]`), `spec.rules[0].resourceRules[0].verbs: Unsupported value: ["get","a"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"`},
		{"namespaces", "", resources(`"verbs":["get"],"apiGroups":["*"],"resources":["*"],"namespaces":["a","B"]`), `spec.rules[0].resourceRules[0].namespaces[1]: Invalid value: "B": each member of this list must be '*' or a DNS-1123 label; a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`},
		{"paths", "", paths(`"verbs":["get"],"nonResourceURLs":["/","/a/*","","a","/ ","//","/*/*","/a*"]`), `[spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: "": must not be empty, spec.rules[0].nonResourceRules[0].nonResourceURLs[3]: Invalid value: "a": must start with slash, spec.rules[0].nonResourceRules[0].nonResourceURLs[4]: Invalid value: "/ ": must not contain white-space, spec.rules[0].nonResourceRules[0].nonResourceURLs[5]: Invalid value: "//": must not contain double slash, spec.rules[0].nonResourceRules[0].nonResourceURLs[6]: Invalid value: "/*/*": wildcard can only do suffix matching, spec.rules[0].nonResourceRules[0].nonResourceURLs[7]: Invalid value: "/a*": wildcard can only do suffix matching]`},
		{"no paths", "", paths(`"verbs":["get"]`), "spec.rules[0].nonResourceRules[0].nonResourceURLs: Required value: nonResourceURLs must contain at least one value"},
		{"fixed", "", `{"metadata":{"name":"exempt"},"spec":{"matchingPrecedence":1,"priorityLevelConfiguration":{"name":"l"}}}`, `spec: Invalid value: {"PriorityLevelConfiguration":{"Name":"l"},"MatchingPrecedence":1,"DistinguisherMethod":null,"Rules":null}: spec of 'exempt' must equal the fixed value`},
	})
	kindtest.TestStatusValidation(t, "flowschemas.flowcontrol.apiserver.k8s.io", []kindtest.ValidationRow{
		{"conditions", `{}`, `{"status":{"conditions":[{"type":"a"},{"type":"a"},{}]}}`, `[status.conditions[1].type: Duplicate value: "a", status.conditions[2].type: Required value]`},
	})
}
