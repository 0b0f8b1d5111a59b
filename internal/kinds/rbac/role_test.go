package rbac_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateRoles(t *testing.T) {
	rules := []kindtest.ValidationRow{
		{"resources", "", `{"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`, ""},
		{"empty rule", "", `{"rules":[{}]}`, "[rules[0].apiGroups: Required value: resource rules must supply at least one api group, rules[0].resources: Required value: resource rules must supply at least one resource, rules[0].verbs: Required value]"},
		{"both", "", `{"rules":[{"verbs":["get"],"nonResourceURLs":["/a"],"resourceNames":["b"]}]}`, `rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs`},
	}
	kindtest.TestValidation(t, "clusterroles.rbac.authorization.k8s.io", append(rules,
		kindtest.ValidationRow{"no selectors", "", `{"aggregationRule":{}}`, "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil"},
		kindtest.ValidationRow{"bad selector", "", `{"aggregationRule":{"clusterRoleSelectors":[{},{"matchLabels":{"a":"-"}}]}}`, `[aggregationRule.clusterRoleSelectors[1].matchLabels: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'), aggregationRule.clusterRoleSelectors[1]: Invalid value: null: invalid label selector.]`},
		kindtest.ValidationRow{"paths", "", `{"rules":[{"verbs":["get"],"nonResourceURLs":["/a"]}]}`, ""},
	))
	rules[2].Want = `[rules[0].nonResourceURLs: Invalid value: ["/a"]: namespaced rules cannot apply to non-resource URLs, ` + rules[2].Want + `]`
	kindtest.TestValidation(t, "roles.rbac.authorization.k8s.io", rules)
}
