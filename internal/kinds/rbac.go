package kinds

import "github.com/kubefake/kubefake/internal/object"

// rbacGroup is the group of roles, and of users and groups as subjects.
const rbacGroup = "rbac.authorization.k8s.io"

// defaultRoleBinding completes the references of bindings of either scope.
func defaultRoleBinding(obj map[string]any) {
	fillZero(child(obj, "roleRef"), "apiGroup", rbacGroup)
	for subject := range object.Each(obj["subjects"]) {
		switch subject["kind"] {
		case "User", "Group":
			fillZero(subject, "apiGroup", rbacGroup)
		}
	}
}
