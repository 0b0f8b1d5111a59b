package apps

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateControllerRevision(obj map[string]any, old object.View) validation.List {
	errs := validation.Collect(obj, nil, func(p validation.View) { p.NonNegative("revision") })
	path := validation.NewPath("data")
	if !old.IsNil() {
		for _, err := range validation.ImmutableField(obj["data"], old.At("data").Shared(), path) {
			errs = append(errs, err.Before(behavior.GoValuesAsJSON, validation.Instead(validation.Invalid(path, validation.AsGoType("runtime.RawExtension=a", obj["data"]), err.Detail))))
		}
		return errs
	}
	switch object.Plain(obj["data"]).(type) {
	case map[string]any:
	case nil:
		errs = append(errs, validation.Required(path, "data is mandatory"))
	default:
		errs = append(errs, validation.Required(path, "data must be a valid JSON object"))
	}
	return errs
}

var controllerRevisionStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		Validate:                 validateControllerRevision,
	},
	Cells: controllerRevisionCells,
}
