package resourceapi

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

var resourceClaimTemplateStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		Default:                  defaultResourceClaimTemplate,
		ValidateInNamespace:      checkAdminAccess,
		Validate:                 validateResourceClaimTemplate,
	},
	Cells: table.NameAndAge,
}
