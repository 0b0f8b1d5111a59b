package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/validation"
)

// reviewVersions are the versions of AdmissionReview that kube-apiserver supports.
var reviewVersions = []string{"v1", "v1beta1"}

func validateValidatingWebhooks(version cel.Version, obj map[string]any) validation.List {
	return validation.Collect(obj, nil, func(configuration validation.View) { checkWebhooks(version, configuration, false) })
}

func validateMutatingWebhooks(version cel.Version, obj map[string]any) validation.List {
	return validation.Collect(obj, nil, func(configuration validation.View) { checkWebhooks(version, configuration, true) })
}

// checkWebhooks checks the webhooks of a validating or mutating configuration.
func checkWebhooks(version cel.Version, configuration validation.View, mutating bool) {
	seen := validation.Seen{}
	for _, hook := range configuration.Each("webhooks") {
		checkWebhook(version, hook, mutating)
		checkWebhookVersions(hook)
		if hook.String("name") != "" {
			seen.Unique(hook, "name")
		}
	}
}

func checkWebhook(version cel.Version, hook validation.View, mutating bool) {
	hook.AddList(validation.FullyQualifiedName(hook.String("name"), hook.At("name")))
	for _, rule := range hook.Each("rules") {
		checkOperationsRule(rule)
	}
	hook.OneOfIfSet("failurePolicy", "Fail", "Ignore")
	hook.OneOfIfSet("matchPolicy", "Equivalent", "Exact")
	if hook.Has("sideEffects") {
		hook.OneOf("sideEffects", "None", "NoneOnDryRun")
	} else {
		hook.Required("sideEffects", "must specify one of None, NoneOnDryRun")
	}
	if n := hook.Int("timeoutSeconds"); hook.Has("timeoutSeconds") && (n < 1 || n > 30) {
		hook.Invalid("timeoutSeconds", "the timeout value must be between 1 and 30 seconds")
	}
	hook.LabelSelector("namespaceSelector", validation.LabelSelectorOptions{})
	hook.LabelSelector("objectSelector", validation.LabelSelectorOptions{})
	if mutating {
		hook.OneOfIfSet("reinvocationPolicy", "IfNeeded", "Never")
	}
	checkWebhookClient(hook.Field("clientConfig"))
	checkMatchConditions(version, hook, cel.OptionalVariables{Authorizer: true})
}

// checkWebhookVersions checks the versions of AdmissionReview that a webhook
// supports.
func checkWebhookVersions(hook validation.View) {
	const name = "admissionReviewVersions"
	versions, known := hook.Strings(name), strings.Join(reviewVersions, ", ")
	if len(versions) == 0 {
		hook.Required(name, "must specify one of "+known)
		return
	}
	for i, version := range versions {
		path := hook.At(name).Index(i)
		if slices.Contains(versions[:i], version) {
			hook.Add(validation.Invalid(path, version, "duplicate version"))
			continue
		}
		hook.AddList(validation.Each(path, version, validation.DNS1035Label(version)))
	}
	if !slices.ContainsFunc(versions, func(v string) bool { return slices.Contains(reviewVersions, v) }) {
		hook.Invalid(name, "must include at least one of "+known)
	}
}

// checkWebhookClient checks that a webhook has a valid URL or a valid service.
func checkWebhookClient(client validation.View) {
	service, isService := client.Lookup("service")
	switch {
	case client.Has("url") == isService:
		client.Add(validation.Required(client.Path, "exactly one of url or service is required"))
	case isService:
		client.AddList(validation.WebhookService(service.Obj, service.Path))
	default:
		client.AddList(validation.WebhookURL(client.String("url"), client.At("url")))
	}
}

// checkOperationsRule checks a RuleWithOperations of a webhook or a policy.
func checkOperationsRule(rule validation.View) {
	operations := rule.Strings("operations")
	rule.Require("operations")
	if len(operations) > 1 && slices.Contains(operations, "*") {
		rule.Invalid("operations", "if '*' is present, must not specify other operations")
	}
	supported := []string{"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}
	for i, operation := range operations {
		if !slices.Contains(supported, operation) {
			rule.Add(validation.NotSupported(rule.At("operations").Index(i), validation.NamedString(operation), supported))
		}
	}
	rule.Require("apiGroups")
	checkWildcardAlone(rule, "apiGroups", "API groups")
	rule.Require("apiVersions")
	checkWildcardAlone(rule, "apiVersions", "API versions")
	for i, version := range rule.Strings("apiVersions") {
		if version == "" {
			rule.Add(validation.Required(rule.At("apiVersions").Index(i), ""))
		}
	}
	rule.Require("resources")
	checkRuleResources(rule, rule.Strings("resources"))
	rule.OneOfIfSet("scope", "*", "Cluster", "Namespaced")
}

// checkWildcardAlone checks that a list with a "*" has no other items.
func checkWildcardAlone(rule validation.View, name, what string) {
	if list := rule.Strings(name); len(list) > 1 && slices.Contains(list, "*") {
		rule.Invalid(name, "if '*' is present, must not specify other "+what)
	}
}

// checkRuleResources checks the resources of a rule. The resource and the subresource
// of an item may be "*"; later items must not name what the item covers already.
// "*" without a subresource is an error if the last item without a subresource is
// another resource, as in kube-apiserver.
func checkRuleResources(rule validation.View, resources []string) {
	everySub, everyResource := map[string]bool{}, map[string]bool{} // x/* and */x
	lastIsNamed := false
	for i, r := range resources {
		path := rule.At("resources").Index(i)
		if r == "" {
			rule.Add(validation.Required(path, ""))
			continue
		}
		resource, sub, hasSub := strings.Cut(r, "/")
		if !hasSub {
			lastIsNamed = r != "*"
			continue
		}
		if everySub[resource] {
			rule.Add(validation.Invalid(path, r, fmt.Sprintf("if '%s/*' is present, must not specify %s", resource, r)))
		}
		if everyResource[sub] {
			rule.Add(validation.Invalid(path, r, fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, r)))
		}
		if sub == "*" {
			everySub[resource] = true
		}
		if resource == "*" {
			everyResource[sub] = true
		}
	}
	if len(resources) > 1 && slices.Contains(resources, "*/*") {
		rule.Invalid("resources", "if '*/*' is present, must not specify other resources")
	}
	if lastIsNamed && slices.Contains(resources, "*") {
		rule.Invalid("resources", "if '*' is present, must not specify other resources without subresources")
	}
}
