package rbac_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestDefaultRoleBinding(t *testing.T) {
	const body = `{"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"},{"kind":"Group","name":"g","apiGroup":"x"},{"kind":"ServiceAccount","name":"s","namespace":"n"}]}`
	for _, name := range []string{"rolebindings.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io"} {
		kindtest.TestDefaults(t, name, []kindtest.Row{
			{name, body, "roleRef.apiGroup", `"rbac.authorization.k8s.io"`},
			{name + " subjects", body, "subjects", `[{"kind":"User","name":"u","apiGroup":"rbac.authorization.k8s.io"},{"kind":"Group","name":"g","apiGroup":"x"},{"kind":"ServiceAccount","name":"s","namespace":"n"}]`},
		})
	}
}

func TestValidateRoleBindings(t *testing.T) {
	const ref = `"roleRef":{"kind":"ClusterRole","name":"r"}`
	const group = `supported values: "rbac.authorization.k8s.io"`
	rows := []kindtest.ValidationRow{
		{"user", "", `{` + ref + `,"subjects":[{"kind":"User","name":"a"},{"kind":"ServiceAccount","name":"b","namespace":"c"}]}`, ""},
		{"no role", "", `{"roleRef":{"kind":"ClusterRole"}}`, "roleRef.name: Required value"},
		{"name of a role", "", `{"roleRef":{"kind":"ClusterRole","name":"a/b"}}`, `roleRef.name: Invalid value: "a/b": may not contain '/'`},
		{"other group", "", `{"roleRef":{"kind":"ClusterRole","name":"r","apiGroup":"<a>"}}`, `roleRef.apiGroup: Unsupported value: "<a>": ` + group},
		{"subjects", "", `{` + ref + `,"subjects":[{"kind":"ServiceAccount","name":"B","namespace":"c","apiGroup":"d"},{"kind":"Group","name":"","apiGroup":"e"}]}`, `[subjects[0].name: Invalid value: "B": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), subjects[0].apiGroup: Unsupported value: "d": supported values: "", subjects[1].apiGroup: Unsupported value: "e": ` + group + `, subjects[1].name: Required value]`},
		{"no role after one", `{` + ref + `}`, `{"roleRef":{"kind":"ClusterRole"}}`, `[roleRef.name: Required value, roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":""}: field is immutable]`},
		{"other role", `{` + ref + `}`, `{"roleRef":{"kind":"ClusterRole","name":"s"}}`, `roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"s"}: field is immutable`},
	}
	kindtest.TestValidation(t, "rolebindings.rbac.authorization.k8s.io", append(rows,
		kindtest.ValidationRow{"no such subject", "", `{` + ref + `,"subjects":[{"kind":"Robot","name":"a"}]}`, `subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"`},
		kindtest.ValidationRow{"account of the namespace", "", `{` + ref + `,"subjects":[{"kind":"ServiceAccount","name":"a"}]}`, ""},
		kindtest.ValidationRow{"role", "", `{"roleRef":{"kind":"Role","name":"r"}}`, ""},
	))
	kindtest.TestValidation(t, "clusterrolebindings.rbac.authorization.k8s.io", append(rows,
		kindtest.ValidationRow{"account of no namespace", "", `{` + ref + `,"subjects":[{"kind":"ServiceAccount","name":"a"}]}`, "subjects[0].namespace: Required value"},
		kindtest.ValidationRow{"role", "", `{"roleRef":{"kind":"Role","name":"r"}}`, `roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"`},
	))
}
