package admissionregistration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var mutatingAdmissionPolicyStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		Default:                    defaultPolicy,
		Validate:                   validateMutatingPolicy,
	},
	GenerationFields: []string{"spec"},
	Cells:            policyCells("mutations"),
}

var validatingAdmissionPolicyStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		Default:                    defaultPolicy,
		Validate:                   validateValidatingPolicy,
	},
	GenerationFields: []string{"spec"},
	Status: kind.Status{
		Metadata: kind.StatusMetadataNone,
		Validate: validateValidatingPolicyStatus,
	},
	Cells: policyCells("validations"),
}
