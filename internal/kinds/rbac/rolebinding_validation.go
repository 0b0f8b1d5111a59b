package rbac

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateRoleBinding(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(binding validation.View) { checkRoleBinding(binding, old, true, "Role", "ClusterRole") })
}

func validateClusterRoleBinding(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(binding validation.View) { checkRoleBinding(binding, old, false, "ClusterRole") })
}

// checkRoleBinding checks a binding whose role has one of the kinds. An update cannot
// change the role.
func checkRoleBinding(binding validation.View, old object.View, namespaced bool, roleKinds ...string) {
	ref := binding.Field("roleRef")
	ref.OneOfStrings("apiGroup", rbacGroup)
	ref.OneOfStrings("kind", roleKinds...)
	changed := !old.IsNil() && !validation.Equal(ref.Obj, old.At("roleRef"))
	ref.CheckChanged(changed, func(ref validation.View) {
		if ref.RequireDeclared("name") {
			ref.Format("name", validation.PathSegment)
		}
	})
	for _, subject := range binding.Each("subjects") {
		checkRoleSubject(subject, namespaced)
	}
	if changed {
		binding.Add(validation.Invalid(ref.Path, validation.AsGoType("rbac.RoleRef", ref.Obj), "field is immutable").Before(behavior.DeclarativeErrors, validation.Detail("cannot change roleRef")))
	}
}

func checkRoleSubject(subject validation.View, namespaced bool) {
	subject.RequireDeclared("name")
	switch subject.String("kind") {
	case "ServiceAccount":
		subject.FormatIfSet("name", validation.Subdomain)
		subject.OneOfStrings("apiGroup", "")
		if !namespaced {
			subject.Require("namespace")
		}
	case "User", "Group":
		subject.OneOfStrings("apiGroup", rbacGroup)
	default:
		subject.OneOfStrings("kind", "ServiceAccount", "User", "Group")
	}
}
