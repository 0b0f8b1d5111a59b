package lifecycle

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var evictionRequestStrategy = kind.Strategy{
	Strategy:         resource.Strategy{Validate: validateEvictionRequest},
	GenerationFields: []string{"spec"},
	Status:           kind.Status{Metadata: kind.StatusMetadataNone, Validate: validateStatus},
	Cells:            evictionRequestCells,
}

var evictionStrategy = kind.Strategy{
	Strategy:         resource.Strategy{Validate: validateEviction},
	GenerationFields: []string{"spec"},
	Status:           kind.Status{Metadata: kind.StatusMetadataNone, Validate: validateEvictionStatus},
	Cells:            evictionCells,
}
