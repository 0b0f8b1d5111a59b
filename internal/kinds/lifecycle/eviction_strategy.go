package lifecycle

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

var evictionRequestStrategy = kind.Strategy{
	Strategy:         resource.Strategy{Name: validation.UnprefixedName, Validate: validateEvictionRequest},
	GenerationFields: []string{"spec"},
	Status:           kind.Status{Metadata: kind.StatusMetadataNone, Validate: validateStatus},
	Cells:            evictionRequestCells,
}

var evictionStrategy = kind.Strategy{
	Strategy:         resource.Strategy{Name: validation.UnprefixedName, Validate: validateEviction},
	GenerationFields: []string{"spec"},
	Status:           kind.Status{Metadata: kind.StatusMetadataNone, Validate: validateEvictionStatus},
	Cells:            evictionCells,
}
