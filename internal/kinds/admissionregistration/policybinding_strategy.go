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
		ValidateReferences: authorizeParamRef(bindingKind{
			policy: "MutatingAdmissionPolicy", failed: "%v",
			refused: `user %[2]v does not have "%[1]v" permission on the object referenced by paramRef`, // as kube-apiserver says it
		}),
	},
	GenerationFields: []string{"spec"},
	Cells:            policyBindingCells,
}

var validatingAdmissionPolicyBindingStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		Default:                    defaultPolicyBinding,
		Validate:                   validateValidatingPolicyBinding,
		ValidateReferences: authorizeParamRef(bindingKind{
			policy: "ValidatingAdmissionPolicy", failed: "failed to authorize request: %v",
			refused: `user %v does not have "%v" permission on the object referenced by paramRef`,
		}),
	},
	GenerationFields: []string{"spec"},
	Cells:            policyBindingCells,
}
