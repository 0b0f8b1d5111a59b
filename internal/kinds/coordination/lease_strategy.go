package coordination

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

var leaseStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		AllowCreateOnUpdate:        true,
		Validate:                   validateLease,
	},
	Cells: func(r table.Row) []any { return []any{r.Name(), r.String("spec", "holderIdentity"), r.Age()} },
}
