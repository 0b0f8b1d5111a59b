package policy

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

var podDisruptionBudgetStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		Meta:           resource.MetaOnce,
		Name:           validation.PathSegmentName,
		Validate:       validateDisruptionBudget,
		ValidateStatus: validateDisruptionBudgetStatus,
	},
	GenerationFields:      []string{"spec"},
	UnqualifiedFinalizers: true,
}
