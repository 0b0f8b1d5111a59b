package resourceapi

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var resourceClaimStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		Default:                  defaultResourceClaim,
		ValidateInNamespace:      authorizeClaim,
		Validate:                 validateResourceClaim,
	},
	UpdatesValidatedAsNew: kind.ValidatedAsNew{Before: 35, Times: 2},
	Status: kind.Status{
		Metadata: kind.StatusMetadataNone,
		Prepare:  prepareResourceClaimStatus,
		Validate: validateResourceClaimStatus,
	},
	Cells: resourceClaimCells,
}
