package admissionregistration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

var mutatingAdmissionPolicyStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		Default:  defaultPolicy,
		Validate: validateMutatingPolicy,
	},
	GenerationFields: []string{"spec"},
}

var validatingAdmissionPolicyStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		Default:        defaultPolicy,
		Validate:       validateValidatingPolicy,
		ValidateStatus: validateValidatingPolicyStatus,
	},
	GenerationFields: []string{"spec"},
	StatusMetadata:   kind.StatusMetadataNone,
}
