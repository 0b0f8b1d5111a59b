package core

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateNamespace(obj map[string]any, old object.View) validation.List {
	if !old.IsNil() {
		return nil
	}
	return validation.Collect(obj, nil, func(p validation.View) {
		spec := p.Field("spec")
		for _, name := range spec.Strings("finalizers") {
			spec.AddList(validateFinalizer(name, spec.At("finalizers")))
		}
	})
}

// ValidateFinalize validates a write to the finalize subresource.
func ValidateFinalize(obj map[string]any) validation.List {
	return validation.Collect(obj, nil, func(p validation.View) {
		spec := p.Field("spec")
		for i, name := range spec.Strings("finalizers") {
			spec.AddList(validateFinalizer(name, spec.At("finalizers").Index(i)))
		}
	})
}

func validateFinalizer(name string, path *validation.Path) validation.List {
	list := validation.Each(path, name, validation.QualifiedName(name))
	return append(list, validation.KubernetesFinalizer(name, path)...)
}

func validateNamespaceStatus(obj map[string]any, _ object.View) validation.List {
	phase, deleting := "Active", "empty"
	if object.Value(obj, "metadata", "deletionTimestamp") != nil {
		phase, deleting = "Terminating", "not empty"
	}
	if is := object.String(obj, "status", "phase"); is != phase {
		return validation.List{validation.Invalid(validation.NewPath("status", "Phase"), validation.NamedString(is),
			"may only be '"+phase+"' if `deletionTimestamp` is "+deleting)}
	}
	return nil
}
