package volumes

import (
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateClaim(obj, old map[string]any) validation.List {
	spec := func(p validation.View) { claimRulesAfter(old).spec(p.Field("spec")) }
	if old == nil {
		return validation.Collect(obj, nil, spec)
	}
	return validation.Collect(obj, nil, spec, claimUpdate(old))
}

// claimUpdate returns the rule of what may become of a claim.
func claimUpdate(old map[string]any) func(validation.View) {
	return func(p validation.View) {
		spec, was := p.Field("spec"), object.Map(old, "spec")
		masked := object.Copy(spec.Obj)
		wasMasked := object.Copy(was)
		if object.String(was, "volumeName") == "" {
			object.Keep(wasMasked, masked, "volumeName") // binding is allowed, once
		}
		checkClassUpdate(p, old, masked)
		if object.String(p.Obj, "status", "phase") == "Bound" {
			if requests := object.Map(masked, "resources", "requests"); requests != nil {
				requests["storage"] = "0"
				object.Keep(requests, object.Map(was, "resources", "requests"), "storage")
			}
			object.Keep(masked, was, "volumeAttributesClassName")
		}
		if !validation.Equal(masked, wasMasked) {
			spec.Add(validation.Forbidden(spec.Path, "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"+
				unversioned.Diff("core.PersistentVolumeClaimSpec", wasMasked, masked)))
		}
		checkClaimShrinks(spec, old)
		validation.View{Obj: spec.Obj, Path: nil, Errs: p.Errs}.ImmutableAs("volumeMode", "*s", was)
		checkClaimAttributes(spec, old)
	}
}

// checkClassUpdate checks that a claim changes its storage class only from one in
// the annotation to the same one in the specification, or from none. It masks
// the allowed change.
func checkClassUpdate(p validation.View, old, masked map[string]any) {
	annotation, annotated := object.Value(old, "metadata", "annotations", classAnnotation).(string)
	_, hadClass := object.Value(old, "spec", "storageClassName").(string)
	class, hasClass := p.Field("spec").Obj["storageClassName"].(string)
	now, stillAnnotated := object.Value(p.Obj, "metadata", "annotations", classAnnotation).(string)
	if annotated && !hadClass && hasClass && class == annotation && (!stillAnnotated || now == annotation) {
		delete(masked, "storageClassName")
		return
	}
	if now != annotation {
		p.Add(validation.Invalid(p.At("metadata").Child("annotations").Child(classAnnotation), now, "field is immutable"))
	}
	if hasClass && !hadClass && (!annotated || class == annotation) {
		delete(masked, "storageClassName")
	}
}

// checkClaimShrinks checks that a claim asks for no less than it has got.
func checkClaimShrinks(p validation.View, old map[string]any) {
	size := func(obj map[string]any, path ...string) string {
		if q := object.String(obj, path...); q != "" {
			return q
		}
		return "0"
	}
	is := size(p.Obj, "resources", "requests", "storage")
	if quantity.Compare(is, size(old, "spec", "resources", "requests", "storage")) < 0 && quantity.Compare(is, size(old, "status", "capacity", "storage")) <= 0 {
		p.Add(validation.Forbidden(p.At("resources").Child("requests").Child("storage"), "field can not be less than status.capacity"))
	}
}

// checkClaimAttributes checks that a claim keeps having a class of attributes once
// one was applied.
func checkClaimAttributes(p validation.View, old map[string]any) {
	const name = "volumeAttributesClassName"
	if validation.Equal(p.Obj[name], object.Value(old, "spec", name)) || object.Value(old, "status", "currentVolumeAttributesClassName") == nil {
		return
	}
	switch {
	case !p.Has(name):
		p.Forbidden(name, "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil")
	case p.String(name) == "":
		p.Forbidden(name, "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil")
	}
}

// resizeStatuses are how far a claim has come in growing, sorted.
var resizeStatuses = []string{
	"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending",
}

func validateClaimStatus(obj, _ map[string]any) validation.List {
	return validation.Collect(obj, nil, func(p validation.View) {
		if p.Field("spec").Len("accessModes") == 0 {
			p.Add(validation.Required(validation.NewPath("Spec", "accessModes"), ""))
		}
		checkClaimStatus(p.Field("status"))
	})
}

func checkClaimStatus(p validation.View) {
	for resource, quantity := range p.Quantities("capacity") {
		checkBasicResource(p, quantity, p.At("capacity").Key(resource))
	}
	for resource, v := range p.Entries("allocatedResourceStatuses") {
		path := p.At("allocatedResourceStatuses")
		p.AddList(claimResource(resource, path))
		if status, _ := v.(string); !slices.Contains(resizeStatuses, status) {
			p.Add(validation.NotSupported(path, validation.NamedString(resource), resizeStatuses))
		}
	}
	for resource, quantity := range p.Quantities("allocatedResources") {
		path := p.At("allocatedResources")
		if errs := claimResource(resource, path); len(errs) > 0 {
			p.AddList(errs)
			continue
		}
		before := len(*p.Errs)
		if checkBasicResource(p, quantity, path.Key(resource)); p.NoErrorsSince(before) {
			p.AddList(resources.ValidateQuantity("storage", quantity, path.Key(resource)))
		}
	}
}

// claimResource checks the name of what a claim gets: storage, or something
// that only others know.
func claimResource(name string, path *validation.Path) validation.List {
	if messages := validation.QualifiedName(name); len(messages) > 0 {
		return validation.Each(path, name, messages)
	}
	if resources.IsNative(name) && name != "storage" {
		return validation.List{validation.NotSupported(path, name, []string{"storage"})}
	}
	return nil
}
