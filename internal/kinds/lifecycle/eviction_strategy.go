package lifecycle

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

var evictionRequestStrategy = kind.Strategy{
	Strategy:         resource.Strategy{Name: validation.UnprefixedName, Validate: validateEvictionRequest},
	GenerationFields: []string{"spec"},
	Status:           kind.Status{Metadata: kind.StatusMetadataNone, Validate: validateRequestStatus},
	Cells:            evictionRequestCells,
}

var evictionStrategy = kind.Strategy{
	Strategy:         resource.Strategy{Name: validation.UnprefixedName, Validate: validateEviction, ValidateInNamespace: validateProgress},
	GenerationFields: []string{"spec"},
	Status:           kind.Status{Metadata: kind.StatusMetadataNone, Validate: validateEvictionStatus},
	Cells:            evictionCells,
}
