package kinds

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

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

func validateRole(obj, _ map[string]any) validation.List {
	return mistakes(obj, nil, namespacedPolicyRules)
}

func validateClusterRole(obj, _ map[string]any) validation.List {
	return mistakes(obj, nil, clusterPolicyRules, aggregationRule)
}

func namespacedPolicyRules(role part) {
	for _, rule := range role.each("rules") {
		policyRule(rule, true)
	}
}

func clusterPolicyRules(role part) {
	for _, rule := range role.each("rules") {
		policyRule(rule, false)
	}
}

func policyRule(rule part, namespaced bool) {
	if rule.size("verbs") == 0 {
		rule.missing("verbs", "verbs must contain at least one value")
	}
	if rule.size("nonResourceURLs") > 0 {
		if namespaced {
			rule.invalid("nonResourceURLs", "namespaced rules cannot apply to non-resource URLs")
		}
		if rule.size("apiGroups")+rule.size("resources")+rule.size("resourceNames") > 0 {
			rule.invalid("nonResourceURLs", "rules cannot apply to both regular resources and non-resource URLs")
		}
		return
	}
	if rule.size("apiGroups") == 0 {
		rule.missing("apiGroups", "resource rules must supply at least one api group")
	}
	if rule.size("resources") == 0 {
		rule.missing("resources", "resource rules must supply at least one resource")
	}
}

func aggregationRule(role part) {
	rule, ok := role.given("aggregationRule")
	if !ok {
		return
	}
	if rule.size("clusterRoleSelectors") == 0 {
		rule.missing("clusterRoleSelectors", "at least one clusterRoleSelector required if aggregationRule is non-nil")
	}
	for _, selector := range rule.each("clusterRoleSelectors") {
		n := len(*selector.errs)
		selector.add(validation.LabelSelector(selector.obj, validation.LabelSelectorOptions{}, selector.path))
		if !selector.sound(n) {
			selector.note(validation.Invalid(selector.path, nil, "invalid label selector."))
		}
	}
}

func validateRoleBinding(obj, old map[string]any) validation.List {
	return mistakes(obj, nil, func(binding part) { roleBinding(binding, old, true, "Role", "ClusterRole") })
}

func validateClusterRoleBinding(obj, old map[string]any) validation.List {
	return mistakes(obj, nil, func(binding part) { roleBinding(binding, old, false, "ClusterRole") })
}

// roleBinding checks a binding of one of the kinds of roles. What it binds to
// stays.
func roleBinding(binding part, old map[string]any, namespaced bool, roleKinds ...string) {
	ref := binding.within("roleRef")
	ref.among("apiGroup", rbacGroup)
	ref.among("kind", roleKinds...)
	ref.needsToBe("name", validation.PathSegment)
	for _, subject := range binding.each("subjects") {
		roleSubject(subject, namespaced)
	}
	if old != nil && !validation.Equal(ref.obj, object.Map(old, "roleRef")) {
		binding.note(validation.Invalid(ref.path, roleRef{ref.text("apiGroup"), ref.text("kind"), ref.text("name")}, "cannot change roleRef"))
	}
}

// A roleRef is a reference to a role as messages print it.
type roleRef struct{ APIGroup, Kind, Name string }

func roleSubject(subject part, namespaced bool) {
	subject.needs("name")
	switch subject.text("kind") {
	case "ServiceAccount":
		subject.ifSet("name", subdomain)
		subject.among("apiGroup", "")
		if !namespaced {
			subject.needs("namespace")
		}
	case "User", "Group":
		subject.among("apiGroup", rbacGroup)
	default:
		subject.among("kind", "ServiceAccount", "User", "Group")
	}
}
