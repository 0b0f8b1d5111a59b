package core

import (
	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/resource"
)

// defaultLimitRange sets the defaults of Container limits: default from max, then
// defaultRequest from default and from min.
func defaultLimitRange(obj map[string]any) {
	for item := range object.Each(object.Value(obj, "spec", "limits")) {
		if item["type"] == "Container" {
			resources.SetDefaults(item, "default", object.Map(item, "max"))
			resources.SetDefaults(item, "defaultRequest", object.Map(item, "default"))
			resources.SetDefaults(item, "defaultRequest", object.Map(item, "min"))
		}
		for _, list := range []string{"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"} {
			quantity.RoundList(item[list])
		}
	}
}

var limitRangeStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataCreate,
		GenerateUUIDName:         true,
		AllowUnconditionalUpdate: true,
		AllowCreateOnUpdate:      true,
		Default:                  defaultLimitRange,
		Validate:                 validateLimitRange,
	},
}
