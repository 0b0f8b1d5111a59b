package admissionregistration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var mutatingAdmissionPolicyBindingStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		Default:                    defaultPolicyBinding,
		Validate:                   validateMutatingPolicyBinding,
	},
	GenerationFields: []string{"spec"},
	Cells:            policyBindingCells,
}

var validatingAdmissionPolicyBindingStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		Default:                    defaultPolicyBinding,
		Validate:                   validateValidatingPolicyBinding,
	},
	GenerationFields: []string{"spec"},
	Cells:            policyBindingCells,
}
