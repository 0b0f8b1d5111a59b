package kinds

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/validation"
)

func defaultFlowSchema(obj map[string]any) {
	fillZero(child(obj, "spec"), "matchingPrecedence", int64(1000))
}

func defaultPriorityLevel(obj map[string]any) {
	spec := child(obj, "spec")
	if exempt := object.Map(spec, "exempt"); exempt != nil {
		fill(exempt, "nominalConcurrencyShares", int64(0))
		fill(exempt, "lendablePercent", int64(0))
	}
	if limited := object.Map(spec, "limited"); limited != nil {
		fill(limited, "nominalConcurrencyShares", int64(30))
		fill(limited, "lendablePercent", int64(0))
		if queuing := object.Map(limited, "limitResponse", "queuing"); queuing != nil {
			fillZero(queuing, "handSize", int64(8))
			fillZero(queuing, "queues", int64(64))
			fillZero(queuing, "queueLengthLimit", int64(50))
		}
	}
}

// The flow schema and the priority level of what is never held back, and those
// of what no other takes, are the same in every cluster.
const (
	flowExempt   = "exempt"
	flowCatchAll = "catch-all"
)

func validateFlowSchema(obj, _ map[string]any) validation.List {
	name := object.String(obj, "metadata", "name")
	return mistakes(obj, nil, func(schema part) {
		spec := schema.within("spec")
		flowPrecedence(spec, name)
		if method, ok := spec.given("distinguisherMethod"); ok {
			flowDistinguisher(method)
		}
		if level := spec.within("priorityLevelConfiguration"); level.text("name") == "" {
			level.missing("name", "must reference a priority level")
		} else {
			level.is("name", subdomain)
		}
		for _, rule := range spec.each("rules") {
			flowRule(rule)
		}
		if name == flowExempt || name == flowCatchAll {
			fixed := release.FlowSpec("flowschemas", name)
			if !validation.Equal(spec.obj, fixed) {
				spec.note(validation.Invalid(spec.path, internal("flowcontrol.FlowSchemaSpec", spec.obj), fmt.Sprintf("spec of '%s' must equal the fixed value", name)))
			}
		}
		flowConditions(schema)
	})
}

// flowPrecedence checks where a schema stands among the others. The first place
// is taken.
func flowPrecedence(spec part, name string) {
	const last = 10000
	switch n := spec.integer("matchingPrecedence"); {
	case n <= 0:
		spec.invalid("matchingPrecedence", "must be a positive value")
	case n > last:
		spec.invalid("matchingPrecedence", fmt.Sprintf("must not be greater than %d", last))
	case n == 1 && name != flowExempt:
		spec.invalid("matchingPrecedence", "only the schema named 'exempt' may have matchingPrecedence 1")
	}
}

func flowDistinguisher(method part) {
	switch typ := method.text("type"); typ {
	case "ByNamespace", "ByUser":
	default:
		method.note(validation.NotSupported(method.at("type"), struct{ Type string }{typ}, []string{"ByNamespace", "ByUser"}))
	}
}

func flowRule(rule part) {
	for _, subject := range rule.each("subjects") {
		flowSubject(subject)
	}
	if rule.size("subjects") == 0 {
		rule.missing("subjects", "subjects must contain at least one value")
	}
	if rule.size("resourceRules") == 0 && rule.size("nonResourceRules") == 0 {
		rule.note(validation.Required(rule.path, "at least one of resourceRules and nonResourceRules has to be non-empty"))
	}
	for _, r := range rule.each("resourceRules") {
		flowResourceRule(r)
	}
	for _, r := range rule.each("nonResourceRules") {
		flowNonResourceRule(r)
	}
}

// flowSubjects are the members that describe the kinds of subjects.
var flowSubjects = []struct{ kind, member string }{
	{"ServiceAccount", "serviceAccount"}, {"User", "user"}, {"Group", "group"},
}

func flowSubject(subject part) {
	kind := subject.text("kind")
	known := slices.IndexFunc(flowSubjects, func(s struct{ kind, member string }) bool { return s.kind == kind })
	if known < 0 {
		subject.oneOf("kind", "Group", "ServiceAccount", "User")
		return
	}
	if m := flowSubjects[known].member; !subject.has(m) {
		subject.missing(m, fmt.Sprintf("%s is required when subject kind is '%s'", m, kind))
	} else if described := subject.within(m); kind == "ServiceAccount" {
		flowServiceAccount(described)
	} else {
		described.needs("name")
	}
	for _, other := range flowSubjects {
		if other.kind != kind && subject.has(other.member) {
			subject.forbid(other.member, fmt.Sprintf("%s is forbidden when subject kind is not '%s'", other.member, other.kind))
		}
	}
}

func flowServiceAccount(account part) {
	if account.needs("name") && account.text("name") != "*" {
		account.is("name", subdomain)
	}
	if account.text("namespace") == "" {
		account.missing("namespace", "must specify namespace for service account")
	} else {
		account.is("namespace", validation.DNS1123Label)
	}
}

func flowResourceRule(rule part) {
	flowVerbs(rule)
	flowList(rule, "apiGroups", "resource rules must supply at least one api group", "api groups")
	flowList(rule, "resources", "resource rules must supply at least one resource", "resources")
	if rule.size("namespaces") == 0 && rule.flag("clusterScope") {
		return
	}
	if flowList(rule, "namespaces", "resource rules that are not cluster scoped must supply at least one namespace", "namespaces") {
		rule.eachText("namespaces", func(namespace string) []string {
			messages := validation.DNS1123Label(namespace)
			for i, m := range messages {
				messages[i] = "each member of this list must be '*' or a DNS-1123 label; " + m
			}
			return messages
		})
	}
}

func flowNonResourceRule(rule part) {
	flowVerbs(rule)
	if flowList(rule, "nonResourceURLs", "nonResourceURLs must contain at least one value", "non-resource URLs") {
		rule.eachText("nonResourceURLs", flowURL)
	}
}

// flowVerbs checks the verbs of a rule, whose names are told as a whole.
func flowVerbs(rule part) {
	supported := []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}
	if !flowList(rule, "verbs", "verbs must contain at least one value", "verbs") {
		return
	}
	for _, verb := range rule.texts("verbs") {
		if !slices.Contains(supported, verb) {
			rule.note(validation.NotSupported(rule.at("verbs"), rule.obj["verbs"], supported))
			return
		}
	}
}

// flowList checks that a list is not empty, and that a "*" in it stands alone.
// It reports whether the list names each of what it is for.
func flowList(rule part, name, missing, what string) (named bool) {
	switch list := rule.texts(name); {
	case len(list) == 0:
		rule.missing(name, missing)
	case !slices.Contains(list, "*"):
		return true
	case len(list) > 1:
		rule.invalid(name, "if '*' is present, must not specify other "+what)
	}
	return false
}

// flowURL checks a path that may end in a wildcard.
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

func validateFlowStatus(obj, _ map[string]any) validation.List {
	return mistakes(obj, nil, flowConditions)
}

// flowConditions checks that the conditions of either kind have types, all
// different.
func flowConditions(obj part) {
	seen := names{}
	for _, c := range obj.within("status").each("conditions") {
		seen.unique(c, "type")
		c.needs("type")
	}
}

func validatePriorityLevel(obj, _ map[string]any) validation.List {
	name := object.String(obj, "metadata", "name")
	return mistakes(obj, nil, func(level part) {
		spec := level.within("spec")
		priorityLevel(spec, name)
		fixedPriorityLevel(spec, name)
		flowConditions(level)
	})
}

func priorityLevel(spec part, name string) {
	typ := spec.text("type")
	if (name == flowExempt) != (typ == "Exempt") {
		spec.invalidEnum("type", "must be 'Exempt' if and only if `name` is 'exempt'")
	}
	switch typ {
	case "Exempt":
		if spec.has("limited") {
			spec.forbid("limited", "must be nil if the type is not Limited")
		}
		spec.ifGiven("exempt", func(exempt part) {
			notBelowZero(exempt, "nominalConcurrencyShares", "")
			percentage(exempt, "lendablePercent")
		})
	case "Limited":
		if spec.has("exempt") {
			spec.forbid("exempt", "must be nil if the type is Limited")
		}
		if limited, ok := spec.given("limited"); ok {
			limitedPriorityLevel(limited)
		} else {
			spec.missing("limited", "must not be empty when type is Limited")
		}
	default:
		spec.needsOneOf("type", "Exempt", "Limited")
	}
}

func limitedPriorityLevel(limited part) {
	notBelowZero(limited, "nominalConcurrencyShares", "")
	response := limited.within("limitResponse")
	queuing, queues := response.given("queuing")
	switch response.text("type") {
	case "Reject":
		if queues {
			response.forbid("queuing", "must be nil if limited.limitResponse.type is not Limited")
		}
	case "Queue":
		if queues {
			flowQueues(queuing)
		} else {
			response.missing("queuing", "must not be empty if limited.limitResponse.type is Limited")
		}
	default:
		response.needsOneOf("type", "Queue", "Reject")
	}
	percentage(limited, "lendablePercent")
	notBelowZero(limited, "borrowingLimitPercent", "if specified, ")
}

func notBelowZero(p part, name, when string) {
	if p.integer(name) < 0 {
		p.invalid(name, when+"must be a non-negative integer")
	}
}

func percentage(p part, name string) {
	if n := p.integer(name); n < 0 || n > 100 {
		p.invalid(name, "must be between 0 and 100, inclusive")
	}
}

// flowQueues checks the queues that requests are dealt to as cards of a deck: a
// hash of so many bits must tell all hands apart.
func flowQueues(queuing part) {
	const (
		mostQueues  = 10 * 1000 * 1000
		mostEntropy = 60 // bits
	)
	if queuing.integer("queueLengthLimit") <= 0 {
		queuing.invalid("queueLengthLimit", "must be positive")
	}
	queues, hand := queuing.integer("queues"), queuing.integer("handSize")
	switch {
	case queues <= 0:
		queuing.invalid("queues", "must be positive")
	case queues > mostQueues:
		queuing.invalid("queues", fmt.Sprintf("must not be greater than %d", mostQueues))
	}
	switch {
	case hand <= 0:
		queuing.invalid("handSize", "must be positive")
	case hand > queues:
		queuing.invalid("handSize", fmt.Sprintf("should not be greater than queues (%d)", queues))
	case handEntropy(queues, hand) > mostEntropy:
		queuing.invalid("handSize", fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than %d", queues, hand, mostEntropy))
	}
}

// handEntropy is how many bits it takes to deal a hand from a deck.
func handEntropy(deck, hand int64) int {
	return int(math.Ceil(math.Log2(float64(deck)) * float64(hand)))
}

// fixedPriorityLevel keeps the levels that are the same in every cluster. What
// is exempt may be told how much of the server it takes.
func fixedPriorityLevel(spec part, name string) {
	fixed := release.FlowSpec("prioritylevelconfigurations", name)
	have, except := spec.obj, ""
	switch name {
	case flowExempt:
		have = map[string]any{"exempt": fixed["exempt"]}
		inherit(have, spec.obj, "type", "limited")
		except = " except the 'spec.exempt' field"
	case flowCatchAll:
	default:
		return
	}
	if !validation.Equal(have, fixed) {
		spec.note(validation.Invalid(spec.path, internal("flowcontrol.PriorityLevelConfigurationSpec", spec.obj), fmt.Sprintf("spec of '%s'%s must equal the fixed value", name, except)))
	}
}
