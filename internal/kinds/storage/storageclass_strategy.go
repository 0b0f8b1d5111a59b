package storage

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

func defaultStorageClass(obj map[string]any) {
	object.SetDefault(obj, "reclaimPolicy", "Delete")
	object.SetDefault(obj, "volumeBindingMode", "Immediate")
}

var storageClassStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		Default:                  defaultStorageClass,
		Validate:                 validateStorageClass,
		WarningsOnWrite:          warnStorageClass,
	},
	Cells:     storageClassCells,
	MarkedRow: effectiveDefault,
}
