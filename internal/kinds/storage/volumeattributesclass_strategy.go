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
	UpdatesValidatedAsNew: kind.ValidatedAsNew{Before: 35, Times: 1},
	Cells: func(r table.Row) []any {
		name := r.Name()
		if r.Before(34) {
			name = r.ClassName("volumeattributesclass.alpha.kubernetes.io/is-default-class")
		}
		return []any{name, r.String("driverName"), r.Age()}
	},
}
