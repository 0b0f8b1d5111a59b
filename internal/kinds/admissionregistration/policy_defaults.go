package admissionregistration

import (
	"github.com/kubefake/kubefake/internal/object"
)

// defaultPolicy sets the defaults of a validating or mutating admission policy.
func defaultPolicy(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	object.SetDefault(spec, "failurePolicy", "Fail")
	defaultMatchResources(object.Map(spec, "matchConstraints"))
}

// defaultPolicyBinding sets the defaults of the binding of a validating or mutating
// admission policy.
func defaultPolicyBinding(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	defaultMatchResources(object.Map(spec, "matchResources"))
	if ref := object.Map(spec, "paramRef"); ref != nil && obj["apiVersion"] == "admissionregistration.k8s.io/v1alpha1" {
		object.SetDefault(ref, "parameterNotFoundAction", "Deny")
	}
}

// defaultMatchResources sets the defaults of a MatchResources. match may be nil.
func defaultMatchResources(match map[string]any) {
	if match == nil {
		return
	}
	object.SetDefault(match, "matchPolicy", "Equivalent")
	object.EnsureMap(match, "namespaceSelector")
	object.EnsureMap(match, "objectSelector")
	defaultScope(match["resourceRules"])
	defaultScope(match["excludeResourceRules"])
}

// defaultScope sets the scope "*" in rules without a scope.
func defaultScope(rules any) {
	for rule := range object.Each(rules) {
		object.SetDefault(rule, "scope", "*")
	}
}
