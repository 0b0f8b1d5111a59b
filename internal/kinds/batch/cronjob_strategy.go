package batch

import (
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

func defaultCronJob(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	object.SetDefaultIfZero(spec, "concurrencyPolicy", "Allow")
	object.SetDefault(spec, "suspend", false)
	object.SetDefault(spec, "successfulJobsHistoryLimit", int64(3))
	object.SetDefault(spec, "failedJobsHistoryLimit", int64(1))
	defaultJobSpec(object.EnsureMap(object.EnsureMap(spec, "jobTemplate"), "spec"))
}

func prepareCronJob(obj, old map[string]any) {
	path := []string{"spec", "jobTemplate"}
	if template := object.Map(obj, path...); template != nil {
		pods.PrepareTemplate(template, object.Map(old, path...))
	}
}

var cronJobStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Default:                  defaultCronJob,
		Prepare:                  prepareCronJob,
		Validate:                 validateCronJob,
		WarningsOnWrite:          warnCronJob,
	},
	GenerationFields: []string{"spec"},
	Cells:            cronJobCells,
}
