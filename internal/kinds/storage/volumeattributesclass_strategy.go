package storage

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

var volumeAttributesClassStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		Validate:                 validateVolumeAttributesClass,
	},
	Cells: func(r table.Row) []any { return []any{r.Name(), r.String("driverName"), r.Age()} },
}
