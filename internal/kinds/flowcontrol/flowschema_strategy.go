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
		Meta:                resource.MetaOnlyAsNew,
		UnconditionalUpdate: true,
		Default:             defaultFlowSchema,
		Validate:            validateFlowSchema,
		ValidateStatus:      validateFlowStatus,
	},
	GenerationFields: []string{"spec"},
	StatusMetadata:   kind.StatusMetadataNone,
}
