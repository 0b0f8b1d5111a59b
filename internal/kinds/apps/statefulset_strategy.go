package apps

import (
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

func defaultStatefulSet(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	object.SetDefault(spec, "podManagementPolicy", "OrderedReady")
	strategy := object.EnsureMap(spec, "updateStrategy")
	if strategy["type"] == nil {
		strategy["type"] = "RollingUpdate"
		object.EnsureMap(strategy, "rollingUpdate")
	}
	if rolling := object.Map(strategy, "rollingUpdate"); rolling != nil && strategy["type"] == "RollingUpdate" {
		object.SetDefault(rolling, "partition", int64(0))
	}
	retention := object.EnsureMap(spec, "persistentVolumeClaimRetentionPolicy")
	object.SetDefault(retention, "whenDeleted", "Retain")
	object.SetDefault(retention, "whenScaled", "Retain")
	object.SetDefault(spec, "replicas", int64(1))
	object.SetDefault(spec, "revisionHistoryLimit", int64(10))
	pods.DefaultTemplate(object.EnsureMap(spec, "template"))
	for claim := range object.Each(spec["volumeClaimTemplates"]) {
		object.Put(claim, "apiVersion", "v1")
		object.Put(claim, "kind", "PersistentVolumeClaim")
		volumes.DefaultClaim(claim)
	}
}

// defaultMaxUnavailable sets the default of a field whose feature gate is on.
func defaultMaxUnavailable(r *release.Release, s *resource.Strategy) {
	if !r.Enabled("MaxUnavailableStatefulSet") {
		return
	}
	before := s.Default
	s.Default = func(obj map[string]any) {
		before(obj)
		if strategy := object.Map(obj, "spec", "updateStrategy"); strategy["type"] == "RollingUpdate" && strategy["rollingUpdate"] != nil {
			object.SetDefault(object.Map(strategy, "rollingUpdate"), "maxUnavailable", int64(1))
		}
	}
}

var statefulSetStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Name:                     validation.LabelName,
		Default:                  defaultStatefulSet,
		DefaultMetadata:          kind.NoDefaults,
		Validate:                 validateStatefulSet,
		ValidateMetadata:         kind.NoErrors,
		CompleteBookmark:         setNoReplicas,
	},
	Warnings:         warnStatefulSet,
	Released:         defaultMaxUnavailable,
	GenerationFields: []string{"spec"},
	Status:           kind.Status{Validate: statefulSetCounters.Validate},
	Cells:            statefulSetCells,
}
