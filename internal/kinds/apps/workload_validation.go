package apps

import (
	"strconv"

	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkImmutableSelector checks that an update does not change the label selector.
func checkImmutableSelector(obj map[string]any, old object.View) validation.List {
	if old.IsNil() {
		return nil
	}
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(p validation.View) {
		p.ImmutableAs("selector", "*metav1.LabelSelector", old.At("spec"))
	})
}

// replicaSetTemplate is the rule for the pod templates of ReplicaSets and Deployments.
var replicaSetTemplate = pods.CheckPodTemplate("ReplicaSet")

// withTemplate returns the Default of a workload, whose fields beside the pod template get their defaults
// from rest.
func withTemplate(rest func(obj map[string]any)) func(obj map[string]any) {
	return func(obj map[string]any) {
		rest(obj)
		pods.DefaultTemplate(object.EnsureMap(object.EnsureMap(obj, "spec"), "template"))
	}
}

// isZeroNumberOrPercent reports whether a number or percentage is 0 or absent.
func isZeroNumberOrPercent(p validation.View, name string) bool {
	if n, ok := validation.PercentValue(p.Obj[name]); ok {
		return n == 0
	}
	s, ok := p.Obj[name].(string)
	if !ok {
		return p.Int(name) == 0
	}
	n, _ := strconv.Atoi(s)
	return n == 0
}
