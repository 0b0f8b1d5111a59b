package storage

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var volumeAttributesClassStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		Meta:                resource.MetaAsNew,
		UnconditionalUpdate: true,
		AnswersDeleted:      true,
		Validate:            validateVolumeAttributesClass,
	},
}
