package resourceapi

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var resourceClaimTemplateStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		Meta:                resource.MetaAsNew,
		UnconditionalUpdate: true,
		AnswersDeleted:      true,
		Default:             defaultResourceClaimTemplate,
		ValidateIn:          adminAccess,
		Validate:            validateResourceClaimTemplate,
	},
}
