package apps

import (
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
)

func defaultReplicaSet(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	object.SetDefault(spec, "replicas", int64(1))
	pods.DefaultTemplate(object.EnsureMap(spec, "template"))
}

var replicaSetStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Default:                  defaultReplicaSet,
		DefaultMetadata:          kind.NoDefaults,
		Validate:                 validateReplicaSet,
		ValidateMetadata:         kind.NoErrors,
		CompleteBookmark:         setNoReplicas,
	},
	Warnings:            pods.WarnWorkload,
	ValidatedAsNewUntil: behavior.AppsUpdatesOnce,
	GenerationFields:    []string{"spec"},
	Status:              kind.Status{Validate: replicaSetCounters.Validate},
	Cells:               replicaSetCells,
}
