package core

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

var configMapStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		ReadBack:                 emptyNilBytes("binaryData"),
		Validate:                 validateConfigMap,
	},
	Cells: func(r table.Row) []any { return []any{r.Name(), r.Len("data") + r.Len("binaryData"), r.Age()} },
}
