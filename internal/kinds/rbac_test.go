package kinds

import "testing"

func TestDefaultRoleBinding(t *testing.T) {
	const body = `{"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"},{"kind":"Group","name":"g","apiGroup":"x"},{"kind":"ServiceAccount","name":"s","namespace":"n"}]}`
	for _, name := range []string{"rolebindings.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io"} {
		testDefaults(t, name, []row{
			{name, body, "roleRef.apiGroup", `"rbac.authorization.k8s.io"`},
			{name + " subjects", body, "subjects", `[{"kind":"User","name":"u","apiGroup":"rbac.authorization.k8s.io"},{"kind":"Group","name":"g","apiGroup":"x"},{"kind":"ServiceAccount","name":"s","namespace":"n"}]`},
		})
	}
}

func TestValidateRoles(t *testing.T) {
	rules := []verdict{
		{"resources", "", `{"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`, ""},
		{"nothing", "", `{"rules":[{}]}`, "[rules[0].verbs: Required value: verbs must contain at least one value, rules[0].apiGroups: Required value: resource rules must supply at least one api group, rules[0].resources: Required value: resource rules must supply at least one resource]"},
		{"both", "", `{"rules":[{"verbs":["get"],"nonResourceURLs":["/a"],"resourceNames":["b"]}]}`, `rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs`},
	}
	testVerdicts(t, "clusterroles.rbac.authorization.k8s.io", append(rules,
		verdict{"no selectors", "", `{"aggregationRule":{}}`, "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil"},
		verdict{"bad selector", "", `{"aggregationRule":{"clusterRoleSelectors":[{},{"matchLabels":{"a":"-"}}]}}`, `[aggregationRule.clusterRoleSelectors[1].matchLabels: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'), aggregationRule.clusterRoleSelectors[1]: Invalid value: null: invalid label selector.]`},
		verdict{"paths", "", `{"rules":[{"verbs":["get"],"nonResourceURLs":["/a"]}]}`, ""},
	))
	rules[2].want = `[rules[0].nonResourceURLs: Invalid value: ["/a"]: namespaced rules cannot apply to non-resource URLs, ` + rules[2].want + `]`
	testVerdicts(t, "roles.rbac.authorization.k8s.io", rules)
}

func TestValidateRoleBindings(t *testing.T) {
	const ref = `"roleRef":{"kind":"ClusterRole","name":"r"}`
	const group = `supported values: "rbac.authorization.k8s.io"`
	rows := []verdict{
		{"user", "", `{` + ref + `,"subjects":[{"kind":"User","name":"a"},{"kind":"ServiceAccount","name":"b","namespace":"c"}]}`, ""},
		{"no role", "", `{"roleRef":{"kind":"ClusterRole"}}`, "roleRef.name: Required value"},
		{"name of a role", "", `{"roleRef":{"kind":"ClusterRole","name":"a/b"}}`, `roleRef.name: Invalid value: "a/b": may not contain '/'`},
		{"other group", "", `{"roleRef":{"kind":"ClusterRole","name":"r","apiGroup":"<a>"}}`, `roleRef.apiGroup: Unsupported value: "<a>": ` + group},
		{"subjects", "", `{` + ref + `,"subjects":[{"kind":"ServiceAccount","name":"B","namespace":"c","apiGroup":"d"},{"kind":"Group","name":"","apiGroup":"e"}]}`, `[subjects[0].name: Invalid value: "B": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), subjects[0].apiGroup: Unsupported value: "d": supported values: "", subjects[1].name: Required value, subjects[1].apiGroup: Unsupported value: "e": ` + group + `]`},
		{"other role", `{` + ref + `}`, `{"roleRef":{"kind":"ClusterRole","name":"s"}}`, `roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"s"}: cannot change roleRef`},
	}
	testVerdicts(t, "rolebindings.rbac.authorization.k8s.io", append(rows,
		verdict{"no such subject", "", `{` + ref + `,"subjects":[{"kind":"Robot","name":"a"}]}`, `subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"`},
		verdict{"account of the namespace", "", `{` + ref + `,"subjects":[{"kind":"ServiceAccount","name":"a"}]}`, ""},
		verdict{"role", "", `{"roleRef":{"kind":"Role","name":"r"}}`, ""},
	))
	testVerdicts(t, "clusterrolebindings.rbac.authorization.k8s.io", append(rows,
		verdict{"account of no namespace", "", `{` + ref + `,"subjects":[{"kind":"ServiceAccount","name":"a"}]}`, "subjects[0].namespace: Required value"},
		verdict{"role", "", `{"roleRef":{"kind":"Role","name":"r"}}`, `roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"`},
	))
}
