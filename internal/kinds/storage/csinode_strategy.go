package storage

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var csiNodeStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		ReturnDeletedObject: true,
		Validate:            validateCSINode,
	},
}
