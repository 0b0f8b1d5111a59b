package pods

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

const (
	requiredDuring  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredDuring = "preferredDuringSchedulingIgnoredDuringExecution"
)

// checkAffinity validates node affinity, pod affinity and pod anti-affinity.
func checkAffinity(p validation.View) {
	p.IfPresent("nodeAffinity", func(nodeAffinity validation.View) {
		nodeAffinity.IfPresent(requiredDuring, nodes.CheckNodeSelector)
		for _, term := range nodeAffinity.Each(preferredDuring) {
			checkWeight(term)
			nodes.CheckNodeSelectorTerm(term.Field("preference"), true)
		}
	})
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		p.IfPresent(name, func(pods validation.View) {
			for _, term := range pods.Each(requiredDuring) {
				checkPodAffinityTerm(term)
			}
			for _, term := range pods.Each(preferredDuring) {
				checkWeight(term)
				checkPodAffinityTerm(term.Field("podAffinityTerm"))
			}
		})
	}
}

func checkWeight(p validation.View) {
	if n := p.Int("weight"); n < 1 || n > 100 {
		p.Add(validation.Invalid(p.At("weight"), n, "must be in the range 1-100"))
	}
}

func checkPodAffinityTerm(p validation.View) {
	p.LabelSelector("labelSelector", validation.LabelSelectorOptions{})
	p.LabelSelector("namespaceSelector", validation.LabelSelectorOptions{})
	for _, namespace := range p.Strings("namespaces") {
		p.AddList(validation.Each(p.At("namespace"), namespace, validation.DNS1123Label(namespace)))
	}
	checkMatchLabelKeys(p)
	if p.String("topologyKey") == "" {
		p.Required("topologyKey", "can not be empty")
	}
	p.AddList(validation.LabelKey(p.String("topologyKey"), p.At("topologyKey")))
}

// checkMatchLabelKeys validates matchLabelKeys and mismatchLabelKeys. The
// labelSelector contains the requirements that mergeMatchLabelKeys has added for
// them.
func checkMatchLabelKeys(p validation.View) {
	match, mismatch := p.Strings("matchLabelKeys"), p.Strings("mismatchLabelKeys")
	if len(match) == 0 && len(mismatch) == 0 {
		return
	}
	selector, ok := p.Lookup("labelSelector")
	for _, name := range []string{"matchLabelKeys", "mismatchLabelKeys"} {
		if !ok && p.Len(name) > 0 {
			p.Forbidden(name, "must not be specified when labelSelector is not set")
			continue
		}
		p.EachFormat(name, validation.QualifiedName)
	}
	if ok {
		seen := validation.Seen{}
		for key := range object.Map(selector.Obj, "matchLabels") {
			seen[key] = true
		}
		for _, expression := range selector.Each("matchExpressions") {
			key := expression.String("key")
			if i := lastIndex(match, key); i >= 0 && seen[key] {
				p.Add(validation.Invalid(p.Path.Index(i), key, "exists in both matchLabelKeys and labelSelector"))
			}
			seen[key] = true
		}
	}
	for i, key := range match {
		if slices.Contains(mismatch, key) {
			p.Add(validation.Invalid(p.At("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys"))
		}
	}
}

// mergedSpread is the gate of mergeMatchLabelKeys for topologySpreadConstraints.
const mergedSpread = "MatchLabelKeysInPodTopologySpreadSelectorMerge"

// checkSpreadLabelKeys is checkMatchLabelKeys for a topologySpreadConstraint whose
// labelSelector has no requirements for matchLabelKeys.
func checkSpreadLabelKeys(p validation.View) {
	selector, ok := p.Lookup("labelSelector")
	if !ok && p.Len("matchLabelKeys") > 0 {
		p.Forbidden("matchLabelKeys", "must not be specified when labelSelector is not set")
	}
	selected := object.ShallowCopy(object.Map(selector.Obj, "matchLabels"))
	for expression := range object.Each(selector.Obj["matchExpressions"]) {
		selected[object.String(expression, "key")] = nil
	}
	for i, key := range p.Strings("matchLabelKeys") {
		at := p.At("matchLabelKeys").Index(i)
		p.AddList(validation.LabelKey(key, at))
		if _, ok := selected[key]; ok {
			p.Add(validation.Invalid(at, key, "exists in both matchLabelKeys and labelSelector"))
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

// checkTopologySpreadConstraint validates a constraint. rest are the constraints
// after it.
func checkTopologySpreadConstraint(p validation.View, rest []any) {
	p.Positive("maxSkew")
	key, action := p.String("topologyKey"), p.String("whenUnsatisfiable")
	if key == "" {
		p.Required("topologyKey", "can not be empty")
	}
	p.OneOf("whenUnsatisfiable", "DoNotSchedule", "ScheduleAnyway")
	for _, other := range rest {
		o, _ := other.(map[string]any)
		if object.String(o, "topologyKey") == key && object.String(o, "whenUnsatisfiable") == action {
			p.Duplicate("{topologyKey, whenUnsatisfiable}", fmt.Sprintf("{%s, %s}", key, action))
			break
		}
	}
	if p.Has("minDomains") {
		p.Positive("minDomains")
		if action != "DoNotSchedule" {
			p.Invalid("minDomains", "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "+action)
		}
	}
	p.OneOfIfSet("nodeAffinityPolicy", "Honor", "Ignore")
	p.OneOfIfSet("nodeTaintsPolicy", "Honor", "Ignore")
	p.AddList(validation.Collect(p.Obj, p.Path, checkMatchLabelKeys).WithGate(mergedSpread))
	p.AddList(validation.Collect(p.Obj, p.Path, checkSpreadLabelKeys).WithoutGate(mergedSpread))
	p.LabelSelector("labelSelector", validation.LabelSelectorOptions{})
}
