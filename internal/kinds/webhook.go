package kinds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/validation"
)

// reviewVersions are the versions of AdmissionReview that the server speaks.
var reviewVersions = []string{"v1", "v1beta1"}

func validateValidatingWebhooks(obj, _ map[string]any) validation.List {
	return mistakes(obj, nil, func(configuration part) { webhooks(configuration, false) })
}

func validateMutatingWebhooks(obj, _ map[string]any) validation.List {
	return mistakes(obj, nil, func(configuration part) { webhooks(configuration, true) })
}

// webhooks checks the webhooks of a configuration of either kind.
func webhooks(configuration part, mutating bool) {
	seen := names{}
	for _, hook := range configuration.each("webhooks") {
		webhook(hook, mutating)
		webhookVersions(hook)
		if hook.text("name") != "" {
			seen.unique(hook, "name")
		}
	}
}

func webhook(hook part, mutating bool) {
	hook.add(validation.FullyQualifiedName(hook.text("name"), hook.at("name")))
	for _, rule := range hook.each("rules") {
		operationsRule(rule)
	}
	hook.ifOneOf("failurePolicy", "Fail", "Ignore")
	hook.ifOneOf("matchPolicy", "Equivalent", "Exact")
	if hook.has("sideEffects") {
		hook.oneOf("sideEffects", "None", "NoneOnDryRun")
	} else {
		hook.missing("sideEffects", "must specify one of None, NoneOnDryRun")
	}
	if n := hook.integer("timeoutSeconds"); hook.has("timeoutSeconds") && (n < 1 || n > 30) {
		hook.invalid("timeoutSeconds", "the timeout value must be between 1 and 30 seconds")
	}
	hook.labelSelector("namespaceSelector", validation.LabelSelectorOptions{})
	hook.labelSelector("objectSelector", validation.LabelSelectorOptions{})
	if mutating {
		hook.ifOneOf("reinvocationPolicy", "IfNeeded", "Never")
	}
	webhookClient(hook.within("clientConfig"))
	matchConditions(hook, cel.OptionalVariables{Authorizer: true})
}

// webhookVersions checks the versions of AdmissionReview that a webhook speaks.
func webhookVersions(hook part) {
	const name = "admissionReviewVersions"
	versions, known := hook.texts(name), strings.Join(reviewVersions, ", ")
	if len(versions) == 0 {
		hook.missing(name, "must specify one of "+known)
		return
	}
	for i, version := range versions {
		path := hook.at(name).Index(i)
		if slices.Contains(versions[:i], version) {
			hook.note(validation.Invalid(path, version, "duplicate version"))
			continue
		}
		hook.add(validation.Each(path, version, validation.DNS1035Label(version)))
	}
	if !slices.ContainsFunc(versions, func(v string) bool { return slices.Contains(reviewVersions, v) }) {
		hook.invalid(name, "must include at least one of "+known)
	}
}

// webhookClient checks where a webhook is called: at a URL or a service.
func webhookClient(client part) {
	service, isService := client.given("service")
	switch {
	case client.has("url") == isService:
		client.note(validation.Required(client.path, "exactly one of url or service is required"))
	case isService:
		client.add(validation.WebhookService(service.obj, service.path))
	default:
		client.add(validation.WebhookURL(client.text("url"), client.at("url")))
	}
}

// operationsRule checks what requests a webhook or a policy is for.
func operationsRule(rule part) {
	operations := rule.texts("operations")
	rule.needs("operations")
	if len(operations) > 1 && slices.Contains(operations, "*") {
		rule.invalid("operations", "if '*' is present, must not specify other operations")
	}
	supported := []string{"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}
	for i, operation := range operations {
		if !slices.Contains(supported, operation) {
			rule.note(validation.NotSupported(rule.at("operations").Index(i), validation.NamedString(operation), supported))
		}
	}
	rule.needs("apiGroups")
	lonelyStar(rule, "apiGroups", "API groups")
	rule.needs("apiVersions")
	lonelyStar(rule, "apiVersions", "API versions")
	for i, version := range rule.texts("apiVersions") {
		if version == "" {
			rule.note(validation.Required(rule.at("apiVersions").Index(i), ""))
		}
	}
	rule.needs("resources")
	admittedResources(rule, rule.texts("resources"))
	rule.ifOneOf("scope", "*", "Cluster", "Namespaced")
}

// lonelyStar checks that a list with a "*" has nothing else.
func lonelyStar(rule part, name, what string) {
	if list := rule.texts(name); len(list) > 1 && slices.Contains(list, "*") {
		rule.invalid(name, "if '*' is present, must not specify other "+what)
	}
}

// admittedResources checks resources and subresources, either of which may be a
// "*" that no other entry may repeat. Of the resources without a subresource,
// the last decides whether there is one besides "*".
func admittedResources(rule part, resources []string) {
	everySub, everyResource := map[string]bool{}, map[string]bool{} // x/* and */x
	plain := false
	for i, r := range resources {
		path := rule.at("resources").Index(i)
		if r == "" {
			rule.note(validation.Required(path, ""))
			continue
		}
		resource, sub, deeper := strings.Cut(r, "/")
		if !deeper {
			plain = r != "*"
			continue
		}
		if everySub[resource] {
			rule.note(validation.Invalid(path, r, fmt.Sprintf("if '%s/*' is present, must not specify %s", resource, r)))
		}
		if everyResource[sub] {
			rule.note(validation.Invalid(path, r, fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, r)))
		}
		if sub == "*" {
			everySub[resource] = true
		}
		if resource == "*" {
			everyResource[sub] = true
		}
	}
	if len(resources) > 1 && slices.Contains(resources, "*/*") {
		rule.invalid("resources", "if '*/*' is present, must not specify other resources")
	}
	if plain && slices.Contains(resources, "*") {
		rule.invalid("resources", "if '*' is present, must not specify other resources without subresources")
	}
}
