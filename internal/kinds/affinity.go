package kinds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// The rules of where pods go: affinity, spread, taints and what tolerates them.

const (
	requiredDuring  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredDuring = "preferredDuringSchedulingIgnoredDuringExecution"
)

// affinity checks the nodes and the other pods that a pod is drawn to or kept
// from.
func affinity(p part) {
	p.ifGiven("nodeAffinity", func(nodes part) {
		nodes.ifGiven(requiredDuring, nodeSelector)
		for _, term := range nodes.each(preferredDuring) {
			weight(term)
			nodeSelectorTerm(term.within("preference"), true)
		}
	})
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		p.ifGiven(name, func(pods part) {
			for _, term := range pods.each(requiredDuring) {
				podAffinityTerm(term)
			}
			for _, term := range pods.each(preferredDuring) {
				weight(term)
				podAffinityTerm(term.within("podAffinityTerm"))
			}
		})
	}
}

func weight(p part) {
	if n := p.integer("weight"); n < 1 || n > 100 {
		p.note(validation.Invalid(p.at("weight"), n, "must be in the range 1-100"))
	}
}

// nodeSelector checks which nodes are selected: of a pod or a volume.
func nodeSelector(p part) {
	if p.size("nodeSelectorTerms") == 0 {
		p.missing("nodeSelectorTerms", "must have at least one node selector term")
		return
	}
	for _, term := range p.each("nodeSelectorTerms") {
		nodeSelectorTerm(term, false)
	}
}

// nodeSelectorTerm checks one term of a node selector. anyValue takes values
// that no label can have.
func nodeSelectorTerm(p part, anyValue bool) {
	for _, requirement := range p.each("matchExpressions") {
		nodeRequirement(requirement, anyValue)
	}
	for _, requirement := range p.each("matchFields") {
		nodeFieldRequirement(requirement)
	}
}

func nodeRequirement(p part, anyValue bool) {
	values := p.size("values")
	switch p.text("operator") {
	case "In", "NotIn":
		if values == 0 {
			p.missing("values", "must be specified when `operator` is 'In' or 'NotIn'")
		}
	case "Exists", "DoesNotExist":
		if values > 0 {
			p.forbid("values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
		}
	case "Gt", "Lt":
		if values != 1 {
			p.missing("values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
		}
	default:
		p.invalidEnum("operator", "not a valid selector operator")
	}
	p.add(validation.LabelKey(p.text("key"), p.at("key")))
	if !anyValue {
		p.eachText("values", validation.LabelValue)
	}
}

func nodeFieldRequirement(p part) {
	switch p.text("operator") {
	case "In", "NotIn":
		if p.size("values") != 1 {
			p.missing("values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
		}
	default:
		p.invalidEnum("operator", "not a valid selector operator")
	}
	if p.text("key") != "metadata.name" {
		p.note(validation.Invalid(p.at("key"), p.text("key"), "not a valid field selector key"))
		return
	}
	p.eachText("values", subdomain)
}

func podAffinityTerm(p part) {
	p.labelSelector("labelSelector", validation.LabelSelectorOptions{})
	p.labelSelector("namespaceSelector", validation.LabelSelectorOptions{})
	for _, namespace := range p.texts("namespaces") {
		p.add(validation.Each(p.at("namespace"), namespace, validation.DNS1123Label(namespace)))
	}
	matchLabelKeys(p)
	if p.text("topologyKey") == "" {
		p.missing("topologyKey", "can not be empty")
	}
	p.add(validation.LabelKey(p.text("topologyKey"), p.at("topologyKey")))
}

// matchLabelKeys checks the labels whose values a label selector takes from the
// pod itself, by the time that it has taken them.
func matchLabelKeys(p part) {
	match, mismatch := p.texts("matchLabelKeys"), p.texts("mismatchLabelKeys")
	if len(match) == 0 && len(mismatch) == 0 {
		return
	}
	selector, ok := p.given("labelSelector")
	for _, name := range []string{"matchLabelKeys", "mismatchLabelKeys"} {
		if !ok && p.size(name) > 0 {
			p.forbid(name, "must not be specified when labelSelector is not set")
			continue
		}
		p.eachText(name, validation.QualifiedName)
	}
	if ok {
		seen := names{}
		for key := range object.Map(selector.obj, "matchLabels") {
			seen[key] = true
		}
		for _, expression := range selector.each("matchExpressions") {
			key := expression.text("key")
			if i := lastIndex(match, key); i >= 0 && seen[key] {
				p.note(validation.Invalid(p.path.Index(i), key, "exists in both matchLabelKeys and labelSelector"))
			}
			seen[key] = true
		}
	}
	for i, key := range match {
		if slices.Contains(mismatch, key) {
			p.note(validation.Invalid(p.at("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys"))
		}
	}
}

func lastIndex(list []string, s string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == s {
			return i
		}
	}
	return -1
}

// topologySpreadConstraint checks how pods are spread; rest are the constraints
// after it.
func topologySpreadConstraint(p part, rest []any) {
	p.positive("maxSkew")
	key, action := p.text("topologyKey"), p.text("whenUnsatisfiable")
	if key == "" {
		p.missing("topologyKey", "can not be empty")
	}
	p.oneOf("whenUnsatisfiable", "DoNotSchedule", "ScheduleAnyway")
	for _, other := range rest {
		o, _ := other.(map[string]any)
		if object.String(o, "topologyKey") == key && object.String(o, "whenUnsatisfiable") == action {
			p.duplicate("{topologyKey, whenUnsatisfiable}", fmt.Sprintf("{%s, %s}", key, action))
			break
		}
	}
	if p.has("minDomains") {
		p.positive("minDomains")
		if action != "DoNotSchedule" {
			p.invalid("minDomains", "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "+action)
		}
	}
	p.ifOneOf("nodeAffinityPolicy", "Honor", "Ignore")
	p.ifOneOf("nodeTaintsPolicy", "Honor", "Ignore")
	matchLabelKeys(p)
	p.labelSelector("labelSelector", validation.LabelSelectorOptions{})
}

// taintEffects are what a taint can do to pods that do not tolerate it.
var taintEffects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}

// tolerations checks the list of tolerations at a member.
func tolerations(p part, name string) {
	for _, t := range p.each(name) {
		toleration(t)
	}
}

func toleration(p part) {
	key, operator, value := p.text("key"), p.text("operator"), p.text("value")
	if key != "" {
		p.add(validation.LabelKey(key, p.at("key")))
	}
	if key == "" && operator != "Exists" {
		p.invalidEnum("operator", `operator must be Exists when `+"`key`"+` is empty, which means "match all values and all keys"`)
	}
	if p.has("tolerationSeconds") && p.text("effect") != "NoExecute" {
		p.invalidEnum("effect", "effect must be 'NoExecute' when `tolerationSeconds` is set")
	}
	switch operator {
	case "Equal", "":
		if messages := validation.LabelValue(value); len(messages) > 0 {
			p.note(validation.Invalid(p.at("operator"), value, strings.Join(messages, ";")))
		}
	case "Exists":
		if value != "" {
			p.note(validation.Invalid(p.at("operator"), value, "value must be empty when `operator` is 'Exists'"))
		}
	case "Lt", "Gt": // wait for a feature gate
		p.note(validation.NotSupported(p.at("operator"), validation.NamedString(operator), []string{"Equal", "Exists", "Lt", "Gt"}))
	default:
		p.oneOf("operator", "Equal", "Exists")
	}
	if p.text("effect") != "" {
		p.oneOf("effect", taintEffects...)
	}
}
