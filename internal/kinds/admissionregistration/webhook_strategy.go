package admissionregistration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var mutatingWebhookConfigurationStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		Default:                    defaultMutatingWebhooks,
		Validate:                   validateMutatingWebhooks,
	},
	GenerationFields: []string{"webhooks"},
	GenerationExact:  true,
}

var validatingWebhookConfigurationStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		Default:                    defaultValidatingWebhooks,
		Validate:                   validateValidatingWebhooks,
	},
	GenerationFields: []string{"webhooks"},
	GenerationExact:  true,
}
