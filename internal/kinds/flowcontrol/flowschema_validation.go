package flowcontrol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// The names of the mandatory FlowSchemas and PriorityLevelConfigurations.
const (
	flowExempt   = "exempt"
	flowCatchAll = "catch-all"
)

func validateFlowSchema(obj map[string]any, _ object.View) validation.List {
	name := object.String(obj, "metadata", "name")
	return validation.Collect(obj, nil, func(schema validation.View) {
		spec := schema.Field("spec")
		checkFlowPrecedence(spec, name)
		if method, ok := spec.Lookup("distinguisherMethod"); ok {
			checkFlowDistinguisher(method)
		}
		if level := spec.Field("priorityLevelConfiguration"); level.String("name") == "" {
			level.Required("name", "must reference a priority level")
		} else {
			level.Format("name", validation.Subdomain)
		}
		for _, rule := range spec.Each("rules") {
			checkFlowRule(rule)
		}
		if name == flowExempt || name == flowCatchAll {
			fixed := release.FlowSpec("flowschemas", name)
			if !validation.Equal(spec.Obj, fixed) {
				spec.Add(validation.Invalid(spec.Path, validation.AsGoType("flowcontrol.FlowSchemaSpec", spec.Obj), fmt.Sprintf("spec of '%s' must equal the fixed value", name)))
			}
		}
		checkFlowConditions(schema)
	})
}

// checkFlowPrecedence checks matchingPrecedence. Only the FlowSchema "exempt" can have
// the value 1.
func checkFlowPrecedence(spec validation.View, name string) {
	const limit = 10000
	switch n := spec.Int("matchingPrecedence"); {
	case n <= 0:
		spec.Invalid("matchingPrecedence", "must be a positive value")
	case n > limit:
		spec.Invalid("matchingPrecedence", fmt.Sprintf("must not be greater than %d", limit))
	case n == 1 && name != flowExempt:
		spec.Invalid("matchingPrecedence", "only the schema named 'exempt' may have matchingPrecedence 1")
	}
}

func checkFlowDistinguisher(method validation.View) {
	switch method.String("type") {
	case "ByNamespace", "ByUser":
	default:
		method.Add(validation.NotSupported(method.At("type"), validation.AsGoType("flowcontrol.FlowDistinguisherMethod", method.Obj), []string{"ByNamespace", "ByUser"}))
	}
}

func checkFlowRule(rule validation.View) {
	for _, subject := range rule.Each("subjects") {
		checkFlowSubject(subject)
	}
	if rule.Len("subjects") == 0 {
		rule.Required("subjects", "subjects must contain at least one value")
	}
	if rule.Len("resourceRules") == 0 && rule.Len("nonResourceRules") == 0 {
		rule.Add(validation.Required(rule.Path, "at least one of resourceRules and nonResourceRules has to be non-empty"))
	}
	for _, r := range rule.Each("resourceRules") {
		checkFlowResourceRule(r)
	}
	for _, r := range rule.Each("nonResourceRules") {
		checkFlowNonResourceRule(r)
	}
}

// flowSubjects maps the kinds of subjects to their fields.
var flowSubjects = []struct{ kind, field string }{
	{"ServiceAccount", "serviceAccount"}, {"User", "user"}, {"Group", "group"},
}

func checkFlowSubject(subject validation.View) {
	kind := subject.String("kind")
	known := slices.IndexFunc(flowSubjects, func(s struct{ kind, field string }) bool { return s.kind == kind })
	if known < 0 {
		subject.OneOf("kind", "Group", "ServiceAccount", "User")
		return
	}
	if m := flowSubjects[known].field; !subject.Has(m) {
		subject.Required(m, fmt.Sprintf("%s is required when subject kind is '%s'", m, kind))
	} else if described := subject.Field(m); kind == "ServiceAccount" {
		checkFlowServiceAccount(described)
	} else {
		described.Require("name")
	}
	for _, other := range flowSubjects {
		if other.kind != kind && subject.Has(other.field) {
			subject.Forbidden(other.field, fmt.Sprintf("%s is forbidden when subject kind is not '%s'", other.field, other.kind))
		}
	}
}

func checkFlowServiceAccount(account validation.View) {
	if account.Require("name") && account.String("name") != "*" {
		account.Format("name", validation.Subdomain)
	}
	if account.String("namespace") == "" {
		account.Required("namespace", "must specify namespace for service account")
	} else {
		account.Format("namespace", validation.DNS1123Label)
	}
}

func checkFlowResourceRule(rule validation.View) {
	checkFlowVerbs(rule)
	checkFlowList(rule, "apiGroups", "resource rules must supply at least one api group", "api groups")
	checkFlowList(rule, "resources", "resource rules must supply at least one resource", "resources")
	if rule.Len("namespaces") == 0 && rule.Bool("clusterScope") {
		return
	}
	if checkFlowList(rule, "namespaces", "resource rules that are not cluster scoped must supply at least one namespace", "namespaces") {
		rule.EachFormat("namespaces", func(namespace string) []string {
			messages := validation.DNS1123Label(namespace)
			for i, m := range messages {
				messages[i] = "each member of this list must be '*' or a DNS-1123 label; " + m
			}
			return messages
		})
	}
}

func checkFlowNonResourceRule(rule validation.View) {
	checkFlowVerbs(rule)
	if checkFlowList(rule, "nonResourceURLs", "nonResourceURLs must contain at least one value", "non-resource URLs") {
		rule.EachFormat("nonResourceURLs", flowURL)
	}
}

// checkFlowVerbs checks the verbs of a rule. The error for unknown verbs quotes the
// whole list.
func checkFlowVerbs(rule validation.View) {
	supported := []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}
	if !checkFlowList(rule, "verbs", "verbs must contain at least one value", "verbs") {
		return
	}
	for _, verb := range rule.Strings("verbs") {
		if !slices.Contains(supported, verb) {
			rule.Add(validation.NotSupported(rule.At("verbs"), rule.Obj["verbs"], supported))
			return
		}
	}
}

// checkFlowList checks that a list is not empty, and that a list with a "*" has no
// other items. It reports whether the list has no "*".
func checkFlowList(rule validation.View, name, missing, what string) (named bool) {
	switch list := rule.Strings(name); {
	case len(list) == 0:
		rule.Required(name, missing)
	case !slices.Contains(list, "*"):
		return true
	case len(list) > 1:
		rule.Invalid(name, "if '*' is present, must not specify other "+what)
	}
	return false
}

// flowURL is the format of a nonResourceURL, which may end with a wildcard.
func flowURL(path string) []string {
	switch stars := strings.Count(path, "*"); {
	case path == "":
		return []string{"must not be empty"}
	case !strings.HasPrefix(path, "/"):
		return []string{"must start with slash"}
	case strings.Contains(path, " "):
		return []string{"must not contain white-space"}
	case strings.Contains(path, "//"):
		return []string{"must not contain double slash"}
	case stars > 1, stars == 1 && !strings.HasSuffix(path, "/*"):
		return []string{"wildcard can only do suffix matching"}
	}
	return nil
}

func validateFlowStatus(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(obj, nil, checkFlowConditions)
}

// checkFlowConditions checks that the types of the conditions of a FlowSchema or a
// PriorityLevelConfiguration are set and unique.
func checkFlowConditions(obj validation.View) {
	seen := validation.Seen{}
	for _, c := range obj.Field("status").Each("conditions") {
		seen.Unique(c, "type")
		if c.String("type") == "" {
			c.Add(validation.Required(c.At("type"), "").Before(behavior.PlainDetails, validation.Detail("must not be empty")))
		}
	}
}
