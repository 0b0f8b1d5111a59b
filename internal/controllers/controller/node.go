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
func Tolerates(tolerations, taint object.View) bool {
	return !Toleration(tolerations, taint).IsNil()
}

// Toleration returns the first of a list of tolerations that tolerates a taint, nothing
// if none does.
func Toleration(tolerations, taint object.View) object.View {
	for t := range tolerations.Objects() {
		if toleratesTaint(t, taint) {
			return t
		}
	}
	return object.View{}
}

func toleratesTaint(t, taint object.View) bool {
	if effect := t.String("effect"); effect != "" && effect != taint.String("effect") {
		return false
	}
	if key := t.String("key"); key != "" && key != taint.String("key") {
		return false
	}
	switch t.String("operator") {
	case "", "Equal":
		return t.String("value") == taint.String("value")
	case "Exists":
		return true
	}
	return false
}

// UntoleratedTaint returns the first taint of a Node with one of the effects that a
// Pod does not tolerate, nothing if there is none.
func UntoleratedTaint(node, pod object.View, effects ...string) object.View {
	for taint := range node.At("spec", "taints").Objects() {
		if slices.Contains(effects, taint.String("effect")) && !Tolerates(pod.At("spec", "tolerations"), taint) {
			return taint
		}
	}
	return object.View{}
}

// NodeSelected reports whether the nodeSelector and the required node affinity of a
// Pod select a Node.
func NodeSelected(pod, node object.View) bool {
	labels := node.At("metadata", "labels")
	for key, value := range pod.At("spec", "nodeSelector").Fields() {
		if !labels.At(key).Equal(value) {
			return false
		}
	}
	required := pod.At("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
	return required.IsNil() || nodes.MatchesSelector(required, node)
}
