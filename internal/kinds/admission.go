package kinds

import "github.com/kubefake/kubefake/internal/object"

// defaultPolicy completes an admission policy, of either kind.
func defaultPolicy(obj map[string]any) {
	spec := child(obj, "spec")
	fill(spec, "failurePolicy", "Fail")
	defaultMatchResources(object.Map(spec, "matchConstraints"))
}

// defaultPolicyBinding completes the binding of an admission policy, of either
// kind.
func defaultPolicyBinding(obj map[string]any) {
	spec := child(obj, "spec")
	defaultMatchResources(object.Map(spec, "matchResources"))
	if ref := object.Map(spec, "paramRef"); ref != nil && obj["apiVersion"] == "admissionregistration.k8s.io/v1alpha1" {
		fill(ref, "parameterNotFoundAction", "Deny")
	}
}

// defaultMatchResources completes what a policy applies to; nil is everything.
func defaultMatchResources(match map[string]any) {
	if match == nil {
		return
	}
	fill(match, "matchPolicy", "Equivalent")
	child(match, "namespaceSelector")
	child(match, "objectSelector")
	defaultScope(match["resourceRules"])
	defaultScope(match["excludeResourceRules"])
}

// defaultScope has rules that name no scope match both.
func defaultScope(rules any) {
	for rule := range object.Each(rules) {
		fill(rule, "scope", "*")
	}
}

func defaultValidatingWebhooks(obj map[string]any) {
	for webhook := range object.Each(obj["webhooks"]) {
		defaultWebhook(webhook)
	}
}

func defaultMutatingWebhooks(obj map[string]any) {
	for webhook := range object.Each(obj["webhooks"]) {
		defaultWebhook(webhook)
		fill(webhook, "reinvocationPolicy", "Never")
	}
}

func defaultWebhook(webhook map[string]any) {
	fill(webhook, "failurePolicy", "Fail")
	fill(webhook, "matchPolicy", "Equivalent")
	child(webhook, "namespaceSelector")
	child(webhook, "objectSelector")
	fill(webhook, "timeoutSeconds", int64(10))
	defaultServiceReference(object.Map(webhook, "clientConfig", "service"))
	defaultScope(webhook["rules"])
}

// defaultServiceReference completes the service that answers for the server;
// nil is none.
func defaultServiceReference(service map[string]any) {
	if service != nil {
		fill(service, "port", int64(443))
	}
}
