package services

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

func defaultEndpoints(obj map[string]any) {
	for subset := range object.Each(obj["subsets"]) {
		for port := range object.Each(subset["ports"]) {
			object.SetDefaultIfZero(port, "protocol", "TCP")
		}
	}
}

var endpointsStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		AllowCreateOnUpdate:      true,
		Default:                  defaultEndpoints,
		Validate:                 validateEndpoints,
		WarningsOnWrite:          warnEndpoints,
	},
	Cells: endpointsCells,
}
