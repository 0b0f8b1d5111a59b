package apps

import (
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// validateReplicaSet returns the Validate of ReplicaSets with a rule for the pod template.
func validateReplicaSet(template func(validation.View)) func(obj map[string]any, old object.View) validation.List {
	return func(obj map[string]any, old object.View) validation.List {
		errs := validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(p validation.View) {
			p.NonNegative("replicas", "minReadySeconds")
			pods.CheckRequiredSelector(p, "deployment", "invalid label selector", template)
		})
		return append(errs, checkImmutableSelector(obj, old)...)
	}
}

var replicaSetCounters = pods.StatusCounters{
	NonNegative:     []string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration", "terminatingReplicas"},
	WithinReplicas:  []string{"fullyLabeledReplicas", "readyReplicas", "availableReplicas"},
	AvailableDetail: "cannot be greater than readyReplicas",
}
