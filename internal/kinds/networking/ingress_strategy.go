package networking

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var ingressStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		Validate:                 validateIngress,
		WarningsOnWrite:          warnIngress,
	},
	GenerationFields: []string{"spec"},
	Status: kind.Status{
		Validate:        validateIngressStatus,
		WarningsOnWrite: warnIngressStatus,
	},
	Cells: ingressCells,
}
