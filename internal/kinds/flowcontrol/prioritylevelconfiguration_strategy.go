package flowcontrol

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

func defaultPriorityLevel(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	if exempt := object.Map(spec, "exempt"); exempt != nil {
		object.SetDefault(exempt, "nominalConcurrencyShares", int64(0))
		object.SetDefault(exempt, "lendablePercent", int64(0))
	}
	if limited := object.Map(spec, "limited"); limited != nil {
		object.SetDefault(limited, "nominalConcurrencyShares", int64(30))
		object.SetDefault(limited, "lendablePercent", int64(0))
		if queuing := object.Map(limited, "limitResponse", "queuing"); queuing != nil {
			object.SetDefaultIfZero(queuing, "handSize", int64(8))
			object.SetDefaultIfZero(queuing, "queues", int64(64))
			object.SetDefaultIfZero(queuing, "queueLengthLimit", int64(50))
		}
	}
}

var priorityLevelConfigurationStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataCreate,
		AllowUnconditionalUpdate: true,
		Default:                  defaultPriorityLevel,
		Validate:                 validatePriorityLevel,
	},
	GenerationFields: []string{"spec"},
	Status: kind.Status{
		Metadata: kind.StatusMetadataNone,
		Validate: validateFlowStatus,
	},
	Cells: priorityLevelCells,
}
