package coordination

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

// prepareLease drops the fields of disabled feature gates.
func prepareLease(obj, old map[string]any) {
	spec, oldSpec := object.EnsureMap(obj, "spec"), object.Map(old, "spec")
	kind.DropDisabledField(spec, oldSpec, "strategy")
	kind.DropDisabledField(spec, oldSpec, "preferredHolder")
}

var leaseStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		AllowCreateOnUpdate:        true,
		Prepare:                    prepareLease,
		Validate:                   validateLease,
	},
	Cells: func(r table.Row) []any { return []any{r.Name(), r.String("spec", "holderIdentity"), r.Age()} },
}
