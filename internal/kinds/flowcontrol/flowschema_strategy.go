package flowcontrol

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

func defaultFlowSchema(obj map[string]any) {
	object.SetDefaultIfZero(object.EnsureMap(obj, "spec"), "matchingPrecedence", int64(1000))
}

var flowSchemaStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataCreate,
		AllowUnconditionalUpdate: true,
		Default:                  defaultFlowSchema,
		Validate:                 validateFlowSchema,
	},
	GenerationFields: []string{"spec"},
	Status: kind.Status{
		Metadata: kind.StatusMetadataNone,
		Validate: validateFlowStatus,
	},
	Cells:       flowSchemaCells,
	CompareRows: compareFlowSchemas,
}
