package admissionregistration

import (
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateValidatingPolicyBinding(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec validation.View) {
		if spec.RequireDeclared("policyName") {
			spec.Format("policyName", validation.Subdomain)
		}
		checkPolicyBinding(spec)
		checkValidationActions(spec, spec.Strings("validationActions"))
	})
}

func validateMutatingPolicyBinding(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec validation.View) {
		spec.RequireFormat("policyName", validation.Subdomain)
		checkPolicyBinding(spec)
		spec.IfPresent("matchResources", checkMutatedOperations)
	})
}

// checkPolicyBinding checks the fields that bindings of validating and mutating
// policies share.
func checkPolicyBinding(spec validation.View) {
	spec.IfPresent("paramRef", checkParamRef)
	spec.IfPresent("matchResources", checkMatchResources)
}

// checkParamRef checks the reference to parameter objects: a name or a selector.
func checkParamRef(ref validation.View) {
	const exclusive = "name and selector are mutually exclusive"
	named, selected := ref.String("name") != "", ref.Has("selector")
	ref.FormatIfSet("name", validation.PathSegment)
	if named && selected {
		ref.Forbidden("name", exclusive)
	}
	ref.LabelSelector("selector", validation.LabelSelectorOptions{})
	if named && selected {
		ref.Forbidden("selector", exclusive)
	}
	if !named && !selected {
		ref.Add(validation.Required(ref.Path, "one of name or selector must be specified"))
	}
	ref.RequireOneOf("parameterNotFoundAction", "Deny", "Allow")
}

// checkValidationActions checks the actions that a failed validation causes.
func checkValidationActions(spec validation.View, actions []string) {
	path := spec.At("validationActions")
	supported := []string{"Audit", "Deny", "Warn"}
	for i, action := range actions {
		if !slices.Contains(supported, action) {
			spec.Add(validation.NotSupported(path.Index(i), validation.NamedString(action), supported))
		}
		if slices.Contains(actions[:i], action) {
			spec.Add(validation.Duplicate(path.Index(i), validation.NamedString(action)))
		}
	}
	if slices.Contains(actions, "Deny") && slices.Contains(actions, "Warn") {
		spec.Invalid("validationActions", "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)")
	}
	if len(actions) == 0 {
		spec.Add(validation.Required(spec.At("validationActions"), "").Before(behavior.DeclarativeErrors, validation.Detail("at least one validation action is required")).Declarative())
	}
}
