package apps

import (
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateReplicaSet(obj, old map[string]any) validation.List {
	errs := validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(p validation.View) {
		p.NonNegative("replicas", "minReadySeconds")
		pods.CheckRequiredSelector(p, "deployment", "invalid label selector", replicaSetTemplate)
	})
	return append(errs, checkImmutableSelector(obj, old)...)
}

var replicaSetCounters = pods.StatusCounters{
	NonNegative:     []string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration", "terminatingReplicas"},
	WithinReplicas:  []string{"fullyLabeledReplicas", "readyReplicas", "availableReplicas"},
	AvailableDetail: "cannot be greater than readyReplicas",
}
