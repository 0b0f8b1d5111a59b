package storage

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/release/behavior"
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
	ValidatedAsNewUntil: behavior.UpdatesOnce,
	Cells: func(r table.Row) []any {
		name := r.Name()
		if r.Before(behavior.VolumeAttributesClassNames) {
			name = r.ClassName("volumeattributesclass.alpha.kubernetes.io/is-default-class")
		}
		return []any{name, r.String("driverName"), r.Age()}
	},
}
