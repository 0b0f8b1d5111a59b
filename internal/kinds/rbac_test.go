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
