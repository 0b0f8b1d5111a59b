package apps

import (
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
)

// defaultReplicaSet sets the defaults but those of the pod template.
func defaultReplicaSet(obj map[string]any) {
	object.SetDefault(object.EnsureMap(obj, "spec"), "replicas", int64(1))
}

var replicaSetStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Default:                  withTemplate(defaultReplicaSet),
		DefaultMetadata:          kind.NoDefaults,
		Validate:                 validateReplicaSet(replicaSetTemplate),
		ValidateMetadata:         kind.NoErrors,
		BesideTemplate:           resource.BesideTemplate{Default: defaultReplicaSet, Validate: validateReplicaSet(pods.ValidTemplate)},
		CompleteBookmark:         setNoReplicas,
	},
	Warnings:            pods.WarnWorkload,
	ValidatedAsNewUntil: behavior.AppsUpdatesOnce,
	GenerationFields:    []string{"spec"},
	Status:              kind.Status{Validate: replicaSetCounters.Validate},
	Cells:               replicaSetCells,
}
