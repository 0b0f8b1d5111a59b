package controller

import (
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
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
	return required == nil || nodes.MatchesSelector(required, node)
}
