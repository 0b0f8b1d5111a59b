package admissionregistration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

var mutatingWebhookConfigurationStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		Default:                    defaultMutatingWebhooks,
		Validate:                   newestExpressions(validateMutatingWebhooks),
	},
	Released:         released(validateMutatingWebhooks),
	Warnings:         warnExcluded,
	GenerationFields: []string{"webhooks"},
	GenerationExact:  true,
	Cells:            webhookCells,
}

var validatingWebhookConfigurationStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		Default:                    defaultValidatingWebhooks,
		Validate:                   newestExpressions(validateValidatingWebhooks),
	},
	Released:         released(validateValidatingWebhooks),
	Warnings:         warnExcluded,
	GenerationFields: []string{"webhooks"},
	GenerationExact:  true,
	Cells:            webhookCells,
}

// webhookCells returns the cells of a webhook configuration.
func webhookCells(r table.Row) []any { return []any{r.Name(), r.Len("webhooks"), r.Age()} }
