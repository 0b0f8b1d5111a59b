package node

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

var runtimeClassStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		AllowCreateOnUpdate:        true,
		Validate:                   validateRuntimeClass,
		WarningsOnWrite:            warnRuntimeClass,
	},
	Cells: func(r table.Row) []any { return []any{r.Name(), r.String("handler"), r.Age()} },
}
