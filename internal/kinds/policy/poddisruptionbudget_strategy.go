package policy

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

var podDisruptionBudgetStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		MetadataValidation:         resource.MetadataNone,
		Name:                       validation.PathSegmentName,
		Validate:                   validateDisruptionBudget,
	},
	GenerationFields: []string{"spec"},
	Status:           kind.Status{Validate: validateDisruptionBudgetStatus},
	Cells:            disruptionBudgetCells,
}
