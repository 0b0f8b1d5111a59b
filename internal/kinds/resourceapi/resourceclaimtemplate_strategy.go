package resourceapi

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/release"
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
	},
	Released: func(r *release.Release, s *resource.Strategy) { s.Validate = newDeviceRules(r).validateClaimTemplate },
	Cells:    table.NameAndAge,
}
