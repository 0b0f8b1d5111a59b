package networking

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var serviceCIDRStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		UnconditionalUpdate: true,
		Validate:            validateServiceCIDR,
	},
	StatusMetadata: kind.StatusMetadataNone,
}
