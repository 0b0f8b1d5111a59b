package rbac

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// rbacGroup is the API group of roles and of the subjects User and Group.
const rbacGroup = "rbac.authorization.k8s.io"

func validateRole(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(obj, nil, checkNamespacedPolicyRules)
}

func validateClusterRole(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(obj, nil, checkClusterPolicyRules, checkAggregationRule)
}

func checkNamespacedPolicyRules(role validation.View) {
	for _, rule := range role.Each("rules") {
		checkPolicyRule(rule, true)
	}
}

func checkClusterPolicyRules(role validation.View) {
	for _, rule := range role.Each("rules") {
		checkPolicyRule(rule, false)
	}
}

func checkPolicyRule(rule validation.View, namespaced bool) {
	if rule.Len("verbs") == 0 {
		rule.Add(validation.Required(rule.At("verbs"), "").Before(behavior.DeclarativeErrors, validation.Detail("verbs must contain at least one value")).Declarative())
	}
	if rule.Len("nonResourceURLs") > 0 {
		if namespaced {
			rule.Invalid("nonResourceURLs", "namespaced rules cannot apply to non-resource URLs")
		}
		if rule.Len("apiGroups")+rule.Len("resources")+rule.Len("resourceNames") > 0 {
			rule.Invalid("nonResourceURLs", "rules cannot apply to both regular resources and non-resource URLs")
		}
		return
	}
	if rule.Len("apiGroups") == 0 {
		rule.Required("apiGroups", "resource rules must supply at least one api group")
	}
	if rule.Len("resources") == 0 {
		rule.Required("resources", "resource rules must supply at least one resource")
	}
}

func checkAggregationRule(role validation.View) {
	rule, ok := role.Lookup("aggregationRule")
	if !ok {
		return
	}
	if rule.Len("clusterRoleSelectors") == 0 {
		rule.Required("clusterRoleSelectors", "at least one clusterRoleSelector required if aggregationRule is non-nil")
	}
	for _, selector := range rule.Each("clusterRoleSelectors") {
		n := len(selector.Errs.List)
		selector.AddList(validation.LabelSelector(selector.Obj, validation.LabelSelectorOptions{}, selector.Path))
		if !selector.NoErrorsSince(n) {
			selector.Add(validation.Invalid(selector.Path, nil, "invalid label selector."))
		}
	}
}
