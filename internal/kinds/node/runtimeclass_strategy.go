package node

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var runtimeClassStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		AllowCreateOnUpdate:        true,
		Validate:                   validateRuntimeClass,
		WarningsOnWrite:            warnRuntimeClass,
	},
}
