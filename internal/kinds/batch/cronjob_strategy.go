package batch

import (
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

var cronJobStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Default:                  defaultCronJob,
		Validate:                 validateCronJob,
	},
	Warnings:         warnCronJob,
	GenerationFields: []string{"spec"},
	Cells:            cronJobCells,
}
