package controller

import (
	"slices"
	"strconv"

	"github.com/kubefake/kubefake/internal/object"
)

// Effects of taints.
const (
	NoSchedule       = "NoSchedule"
	PreferNoSchedule = "PreferNoSchedule"
	NoExecute        = "NoExecute"
)

// Tolerates reports whether one of a list of tolerations tolerates a taint.
func Tolerates(tolerations any, taint map[string]any) bool {
	return Toleration(tolerations, taint) != nil
}

// Toleration returns the first of a list of tolerations that tolerates a taint, nil if
// none does.
func Toleration(tolerations any, taint map[string]any) map[string]any {
	for t := range object.Each(tolerations) {
		if toleratesTaint(t, taint) {
			return t
		}
	}
	return nil
}

func toleratesTaint(t, taint map[string]any) bool {
	if effect := object.String(t, "effect"); effect != "" && effect != object.String(taint, "effect") {
		return false
	}
	if key := object.String(t, "key"); key != "" && key != object.String(taint, "key") {
		return false
	}
	switch object.String(t, "operator") {
	case "", "Equal":
		return object.String(t, "value") == object.String(taint, "value")
	case "Exists":
		return true
	}
	return false
}

// UntoleratedTaint returns the first taint of a Node with one of the effects that a
// Pod does not tolerate, nil if there is none.
func UntoleratedTaint(node, pod map[string]any, effects ...string) map[string]any {
	for taint := range object.Each(object.Value(node, "spec", "taints")) {
		if slices.Contains(effects, object.String(taint, "effect")) && !Tolerates(object.Value(pod, "spec", "tolerations"), taint) {
			return taint
		}
	}
	return nil
}

// NodeSelected reports whether the nodeSelector and the required node affinity of a
// Pod select a Node.
func NodeSelected(pod, node map[string]any) bool {
	labels := object.Map(node, "metadata", "labels")
	for key, value := range object.Map(pod, "spec", "nodeSelector") {
		if has, ok := labels[key]; !ok || has != value {
			return false
		}
	}
	required := object.Map(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
	return required == nil || MatchesNodeSelector(required, node)
}

// MatchesNodeSelector reports whether one of the terms of a NodeSelector matches a
// Node.
func MatchesNodeSelector(selector, node map[string]any) bool {
	for term := range object.Each(selector["nodeSelectorTerms"]) {
		if MatchesNodeSelectorTerm(term, node) {
			return true
		}
	}
	return false
}

// MatchesNodeSelectorTerm reports whether a term of a NodeSelector matches a Node. An
// empty term matches none.
func MatchesNodeSelectorTerm(term, node map[string]any) bool {
	expressions, fields := object.List(term, "matchExpressions"), object.List(term, "matchFields")
	if len(expressions) == 0 && len(fields) == 0 {
		return false
	}
	labels := object.Map(node, "metadata", "labels")
	for e := range object.Each(expressions) {
		value, ok := labels[object.String(e, "key")].(string)
		if !matchesRequirement(e, value, ok) {
			return false
		}
	}
	for e := range object.Each(fields) {
		if object.String(e, "key") != "metadata.name" || !matchesRequirement(e, object.String(node, "metadata", "name"), true) {
			return false
		}
	}
	return true
}

func matchesRequirement(e map[string]any, value string, ok bool) bool {
	values := object.Strings(e, "values")
	switch object.String(e, "operator") {
	case "In":
		return ok && slices.Contains(values, value)
	case "NotIn":
		return !ok || !slices.Contains(values, value)
	case "Exists":
		return ok
	case "DoesNotExist":
		return !ok
	case "Gt", "Lt":
		if !ok || len(values) != 1 {
			return false
		}
		is, err := strconv.ParseInt(value, 10, 64)
		limit, limitErr := strconv.ParseInt(values[0], 10, 64)
		if err != nil || limitErr != nil {
			return false
		}
		if object.String(e, "operator") == "Gt" {
			return is > limit
		}
		return is < limit
	}
	return false
}
