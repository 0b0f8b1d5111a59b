package networking

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var ingressStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		Meta:                resource.MetaAsNew,
		UnconditionalUpdate: true,
		Validate:            validateIngress,
		Warn:                warnIngress,
		ValidateStatus:      validateIngressStatus,
		WarnStatus:          warnIngressStatus,
	},
	GenerationFields: []string{"spec"},
}
