package apiserverinternal

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

var storageVersionStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		Name:     validation.StorageVersionName,
		Validate: validateStorageVersion,
	},
	Status: kind.Status{
		Metadata: kind.StatusMetadataNone,
		Validate: validateStorageVersionStatus,
	},
	Cells: storageVersionCells,
}
