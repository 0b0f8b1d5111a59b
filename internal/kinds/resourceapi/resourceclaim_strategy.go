package resourceapi

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
)

var resourceClaimStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		Default:                  defaultResourceClaim,
		ValidateInNamespace:      authorizeClaim,
	},
	Released: func(r *release.Release, s *resource.Strategy) {
		s.Validate = newDeviceRules(r).validateClaim
		if !r.Enabled("DRAResourceClaimGranularStatusAuthorization") {
			s.ValidateInNamespace = checkAdminAccess
		}
		validateMetadataOnce(r, s)
	},
	ValidatedAsNewUntil: behavior.UpdatesOnce,
	Status: kind.Status{
		Metadata: kind.StatusMetadataNone,
		Prepare:  prepareResourceClaimStatus,
		Validate: validateResourceClaimStatus,
	},
	Cells: resourceClaimCells,
}
