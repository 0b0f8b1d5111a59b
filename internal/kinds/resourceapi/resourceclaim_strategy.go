package resourceapi

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var resourceClaimStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		Meta:                resource.MetaAsNew,
		UnconditionalUpdate: true,
		AnswersDeleted:      true,
		Default:             defaultResourceClaim,
		PrepareStatus:       prepareResourceClaimStatus,
		ValidateIn:          claimAuthority,
		Validate:            validateResourceClaim,
		ValidateStatus:      validateResourceClaimStatus,
	},
	StatusMetadata: kind.StatusMetadataNone,
}
