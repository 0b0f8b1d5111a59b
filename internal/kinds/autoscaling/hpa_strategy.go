package autoscaling

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var horizontalPodAutoscalerStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Default:                  defaultAutoscaler,
		Validate:                 validateAutoscaler,
	},
	GenerationFields: []string{"spec"},
	GenerationGate:   "HPAGeneration",
	Status:           kind.Status{Validate: validateAutoscalerStatus},
	Cells:            autoscalerCells,
}
