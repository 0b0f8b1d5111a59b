package resourceapi

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

func defaultPoolStatusRequest(obj map[string]any) {
	object.SetDefault(object.EnsureMap(obj, "spec"), "limit", int64(defaultPools))
}

var resourcePoolStatusRequestStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:  resource.MetadataUpdateAndCreate,
		ReturnDeletedObject: true,
		Default:             defaultPoolStatusRequest,
		Validate:            validatePoolStatusRequest,
	},
	Status: kind.Status{
		Metadata: kind.StatusMetadataNone,
		Validate: validatePoolStatus,
	},
	Cells: poolStatusCells,
}
