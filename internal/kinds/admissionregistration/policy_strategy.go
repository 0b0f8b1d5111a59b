package admissionregistration

import (
	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// A validateFunc validates objects with expressions that are compatible with a version.
type validateFunc func(version cel.Version, obj map[string]any) validation.List

// newestExpressions returns the validation of the newest release.
func newestExpressions(f validateFunc) func(obj map[string]any, old object.View) validation.List {
	return func(obj map[string]any, _ object.View) validation.List { return f(0, obj) }
}

// released returns a function that sets the validation of a release.
func released(f validateFunc) func(*release.Release, *resource.Strategy) {
	return func(r *release.Release, s *resource.Strategy) {
		if version := cel.NewExpressions(r.Minor()); version != 0 {
			s.Validate = func(obj map[string]any, _ object.View) validation.List { return f(version, obj) }
		}
	}
}

var mutatingAdmissionPolicyStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		Default:                    defaultPolicy,
		Validate:                   newestExpressions(validateMutatingPolicy),
		ValidateReferences:         authorizeParamKind,
	},
	Released:         released(validateMutatingPolicy),
	GenerationFields: []string{"spec"},
	Cells:            policyCells("mutations"),
}

var validatingAdmissionPolicyStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		StatusApplyCreates:         true,
		AllowUnqualifiedFinalizers: true,
		Default:                    defaultPolicy,
		Validate:                   newestExpressions(validateValidatingPolicy),
		ValidateReferences:         authorizeParamKind,
	},
	Released:         released(validateValidatingPolicy),
	GenerationFields: []string{"spec"},
	Status: kind.Status{
		Metadata: kind.StatusMetadataNone,
		Validate: validateValidatingPolicyStatus,
	},
	Cells: policyCells("validations"),
}
