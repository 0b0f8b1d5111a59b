package node

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var runtimeClassStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		CreateOnUpdate: true,
		Validate:       validateRuntimeClass,
		Warn:           warnRuntimeClass,
	},
}
