package admissionregistration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var mutatingWebhookConfigurationStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		Default:  defaultMutatingWebhooks,
		Validate: validateMutatingWebhooks,
	},
	GenerationFields: []string{"webhooks"},
	GenerationRule:   kind.GenerationExact,
}

var validatingWebhookConfigurationStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		Default:  defaultValidatingWebhooks,
		Validate: validateValidatingWebhooks,
	},
	GenerationFields: []string{"webhooks"},
	GenerationRule:   kind.GenerationExact,
}
