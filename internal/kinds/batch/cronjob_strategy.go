package batch

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
)

func defaultCronJob(obj map[string]any) {
	defaultCronJobWith(obj, defaultJobSpec)
}

func defaultCronJobWith(obj map[string]any, defaultJobSpec func(spec map[string]any)) {
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
	Warnings: warnCronJob,
	Released: func(r *release.Release, s *resource.Strategy) {
		if !r.Has(behavior.DefaultsCronJobPolicies) { // has no defaults in the policies of the template
			s.Default = func(obj map[string]any) { defaultCronJobWith(obj, defaultJobTemplate) }
		}
	},
	Status:           kind.Status{MetadataOnce: true},
	GenerationFields: []string{"spec"},
	Cells:            cronJobCells,
}
