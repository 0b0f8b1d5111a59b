package apps

import (
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// defaultDeployment sets the defaults but those of the pod template.
func defaultDeployment(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	object.SetDefault(spec, "replicas", int64(1))
	strategy := object.EnsureMap(spec, "strategy")
	object.SetDefault(strategy, "type", "RollingUpdate")
	if strategy["type"] == "RollingUpdate" {
		rolling := object.EnsureMap(strategy, "rollingUpdate")
		object.SetDefault(rolling, "maxUnavailable", "25%")
		object.SetDefault(rolling, "maxSurge", "25%")
	}
	object.SetDefault(spec, "revisionHistoryLimit", int64(10))
	object.SetDefault(spec, "progressDeadlineSeconds", int64(600))
}

// setNoReplicas sets spec.replicas to 0.
func setNoReplicas(obj map[string]any) { object.Set(obj, int64(0), "spec", "replicas") }

var deploymentStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Default:                  withTemplate(defaultDeployment),
		DefaultMetadata:          kind.NoDefaults,
		Validate:                 validateDeployment(replicaSetTemplate),
		ValidateMetadata:         kind.NoErrors,
		BesideTemplate:           resource.BesideTemplate{Default: defaultDeployment, Validate: validateDeployment(pods.ValidTemplate)},
		CompleteBookmark:         setNoReplicas,
	},
	Warnings:         pods.WarnWorkload,
	GenerationFields: []string{"spec", "annotations"},
	Status: kind.Status{
		Metadata: kind.StatusMetadataExceptLabels,
		Validate: deploymentCounters.Validate,
	},
	Cells: deploymentCells,
}
