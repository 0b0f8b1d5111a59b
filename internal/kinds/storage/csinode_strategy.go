package storage

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

var csiNodeStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		ReturnDeletedObject: true,
		Validate:            validateCSINode,
	},
	Status:              kind.Status{Metadata: kind.StatusMetadataNone},
	ValidatedAsNewUntil: behavior.OtherUpdatesOnce,
	Cells:               func(r table.Row) []any { return []any{r.Name(), r.Len("spec", "drivers"), r.Age()} },
}
