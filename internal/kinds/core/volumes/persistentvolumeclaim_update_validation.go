package volumes

import (
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateClaim(obj map[string]any, old object.View) validation.List {
	spec := func(p validation.View) { claimRulesForUpdate(old).spec(p.Field("spec")) }
	if old.IsNil() {
		return validation.Collect(obj, nil, spec)
	}
	return validation.Collect(obj, nil, spec, claimUpdateRule(old))
}

// claimUpdateRule returns the rule for an update of a claim.
func claimUpdateRule(old object.View) func(validation.View) {
	return func(p validation.View) {
		spec, was := p.Field("spec"), old.At("spec")
		masked := object.Copy(spec.Obj)
		wasMasked := was.CopyObject()
		if was.String("volumeName") == "" {
			object.Keep(wasMasked, object.ViewOf(masked), "volumeName") // binding is allowed, once
		}
		checkStorageClassUpdate(p, old, masked)
		if object.String(p.Obj, "status", "phase") == "Bound" {
			if requests := object.Map(masked, "resources", "requests"); requests != nil {
				requests["storage"] = "0"
				object.Keep(requests, was.At("resources", "requests"), "storage")
			}
			object.Keep(masked, was, "volumeAttributesClassName")
		}
		if !validation.Equal(masked, wasMasked) {
			spec.Add(validation.Forbidden(spec.Path, "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n").
				WithDiff("core.PersistentVolumeClaimSpec", wasMasked, masked))
		}
		checkStorageRequestUpdate(spec, old)
		validation.View{Obj: spec.Obj, Path: nil, Errs: p.Errs}.ImmutableAs("volumeMode", "*s", was)
		checkAttributesClassUpdate(spec, old)
	}
}

// checkStorageClassUpdate checks that the storage class does not change. An update
// may set it if it is not set, or move it from the annotation to the spec: then it
// is deleted from masked.
func checkStorageClassUpdate(p validation.View, old object.View, masked map[string]any) {
	was := old.At("metadata", "annotations", classAnnotation)
	annotation, annotated := was.String(), !was.IsNil()
	hadClass := !old.IsNil("spec", "storageClassName")
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

// checkStorageRequestUpdate checks that the storage request is not reduced to the
// capacity or below.
func checkStorageRequestUpdate(p validation.View, old object.View) {
	size := func(obj object.View, path ...string) string {
		if q := obj.String(path...); q != "" {
			return q
		}
		return "0"
	}
	is := size(p.Object(), "resources", "requests", "storage")
	if quantity.Compare(is, size(old, "spec", "resources", "requests", "storage")) < 0 && quantity.Compare(is, size(old, "status", "capacity", "storage")) <= 0 {
		p.Add(validation.Forbidden(p.At("resources").Child("requests").Child("storage"), "field can not be less than status.capacity"))
	}
}

// checkAttributesClassUpdate checks that volumeAttributesClassName is not removed
// once a class was applied.
func checkAttributesClassUpdate(p validation.View, old object.View) {
	const name = "volumeAttributesClassName"
	if validation.Equal(p.Obj[name], old.At("spec", name)) || old.IsNil("status", "currentVolumeAttributesClassName") {
		return
	}
	switch {
	case !p.Has(name):
		p.Forbidden(name, "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil")
	case p.String(name) == "":
		p.Forbidden(name, "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil")
	}
}

var resizeStatuses = []string{
	"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending",
}

func validateClaimStatus(obj map[string]any, _ object.View) validation.List {
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
		path, older := p.At("allocatedResourceStatuses"), p.At("allocatedResourceStatus")
		p.AddList(validateClaimResourceName(resource, path).Since(behavior.AllocatedStatusPaths))
		p.AddList(validateClaimResourceName(resource, older).Until(behavior.AllocatedStatusPaths))
		if status, _ := v.(string); !slices.Contains(resizeStatuses, status) {
			p.Add(validation.NotSupported(path, validation.NamedString(resource), resizeStatuses).
				Before(behavior.AllocatedStatusPaths, validation.Instead(validation.NotSupported(older, validation.AsGoType("core.ResourceName=s", resource), resizeStatuses))))
		}
	}
	for resource, quantity := range p.Quantities("allocatedResources") {
		path := p.At("allocatedResources")
		if errs := validateClaimResourceName(resource, path); len(errs) > 0 {
			p.AddList(errs)
			continue
		}
		before := len(p.Errs.List)
		if checkBasicResource(p, quantity, path.Key(resource)); p.NoErrorsSince(before) {
			p.AddList(resources.ValidateQuantity("storage", quantity, path.Key(resource)))
		}
	}
}

// validateClaimResourceName checks that the name is storage or a name outside
// kubernetes.io.
func validateClaimResourceName(name string, path *validation.Path) validation.List {
	if messages := validation.QualifiedName(name); len(messages) > 0 {
		return validation.Each(path, name, messages)
	}
	if resources.IsNative(name) && name != "storage" {
		return validation.List{validation.NotSupported(path, name, []string{"storage"})}
	}
	return nil
}
