package core

import (
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateReplicationController(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(p validation.View) {
		p.Declarative(func(p validation.View) { p.NonNegative("replicas", "minReadySeconds") })
		p.Require("selector")
		template, ok := p.Lookup("template")
		if !ok {
			p.Required("template", "")
			return
		}
		meta := template.Field("metadata")
		labels := object.Map(meta.Obj, "labels")
		for name, value := range object.Map(p.Obj, "selector") {
			if own, ok := labels[name]; !ok || own != value {
				meta.Invalid("labels", pods.NotSelected)
				break
			}
		}
		pods.CheckPodTemplate("ReplicationController")(template)
	})
}

// warnReplicationController returns the warnings for a write. On an update
// kube-apiserver checks the old template instead of the new one.
func warnReplicationController(r validation.Release, obj map[string]any, old object.View) []string {
	if !old.IsNil() && !pods.SameGeneration(obj, old) {
		return pods.WarnPodTemplate(r, old.At("spec", "template").SharedMembers(), validation.NewPath("spec").Child("template"))
	}
	return pods.WarnWorkload(r, obj, old)
}

var replicationControllerCounters = pods.StatusCounters{
	NonNegative:     []string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration", "terminatingReplicas"},
	WithinReplicas:  []string{"fullyLabeledReplicas", "readyReplicas", "availableReplicas"},
	AvailableDetail: "cannot be greater than readyReplicas",
}
