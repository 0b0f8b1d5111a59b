package networking

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var serviceCIDRStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Validate:                 validateServiceCIDR,
	},
	Status: kind.Status{Metadata: kind.StatusMetadataNone},
}
