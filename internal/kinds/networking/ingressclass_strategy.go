package networking

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

func defaultIngressClass(obj map[string]any) {
	if parameters := object.Map(obj, "spec", "parameters"); parameters != nil {
		object.SetDefault(parameters, "scope", "Cluster")
	}
}

var ingressClassStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		Default:                  defaultIngressClass,
		Validate:                 validateIngressClass,
	},
	GenerationFields: []string{"spec"},
	Cells:            ingressClassCells,
}
