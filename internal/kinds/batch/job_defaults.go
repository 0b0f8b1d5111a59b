package batch

import (
	"math"

	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
)

func defaultJob(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	if spec["completions"] == nil && spec["parallelism"] == nil {
		spec["completions"] = int64(1)
	}
	object.SetDefault(spec, "parallelism", int64(1))
	if spec["backoffLimitPerIndex"] != nil {
		object.SetDefault(spec, "backoffLimit", int64(math.MaxInt32))
	}
	object.SetDefault(spec, "backoffLimit", int64(6))
	// The Job shares the map with the template, so that it also has the labels that
	// prepareJob adds.
	meta, labels := object.Meta(obj), object.Map(spec, "template", "metadata", "labels")
	if len(labels) > 0 && len(object.Map(meta, "labels")) == 0 {
		meta["labels"] = labels
	}
	object.SetDefault(spec, "completionMode", "NonIndexed")
	object.SetDefault(spec, "suspend", false)
	if spec["podFailurePolicy"] != nil {
		object.SetDefault(spec, "podReplacementPolicy", "Failed")
	}
	object.SetDefault(spec, "podReplacementPolicy", "TerminatingOrFailed")
	object.SetDefault(spec, "manualSelector", false)
	defaultJobSpec(spec)
}

// defaultJobSpec sets the defaults of the spec of a Job or of a CronJob's template.
func defaultJobSpec(spec map[string]any) {
	defaultJobTemplate(spec)
	for rule := range object.Each(object.Value(spec, "podFailurePolicy", "rules")) {
		for pattern := range object.Each(rule["onPodConditions"]) {
			object.SetDefaultIfZero(pattern, "status", "True")
		}
	}
}

func defaultJobTemplate(spec map[string]any) {
	pods.DefaultTemplate(object.EnsureMap(spec, "template"))
}
