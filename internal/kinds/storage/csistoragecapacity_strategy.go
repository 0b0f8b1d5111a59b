package storage

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var csiStorageCapacityStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation: resource.MetadataUpdateAndCreate,
		Validate:           validateCSIStorageCapacity,
		WarningsOnWrite:    warnCSIStorageCapacity,
	},
}
