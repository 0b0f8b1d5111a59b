package storagemigration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var storageVersionMigrationStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation: resource.MetadataUpdateAndCreate,
		Validate:           validateStorageVersionMigration,
	},
	Status: kind.Status{Metadata: kind.StatusMetadataNone, Validate: validateStorageVersionMigrationStatus},
	Cells:  storageVersionMigrationCells,
}
