package resourceapi

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
	"github.com/kubefake/kubefake/internal/validation"
)

var deviceClassStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		Name:                     validation.UnprefixedName,
		Validate:                 validateDeviceClass,
	},
	UpdatesValidatedAsNew: kind.ValidatedAsNew{Before: 35, Times: 1},
	GenerationFields:      []string{"spec"},
	Cells:                 table.NameAndAge,
}
