package kinds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateClaim(obj, old map[string]any) validation.List {
	spec := func(p part) { claimRulesAfter(old).spec(p.within("spec")) }
	if old == nil {
		return mistakes(obj, nil, spec)
	}
	return mistakes(obj, nil, spec, claimUpdate(old))
}

// claimUpdate returns the rule of what may become of a claim.
func claimUpdate(old map[string]any) func(part) {
	return func(p part) {
		spec, was := p.within("spec"), object.Map(old, "spec")
		masked := object.Copy(spec.obj)
		wasMasked := object.Copy(was)
		if object.String(was, "volumeName") == "" {
			object.Keep(wasMasked, masked, "volumeName") // binding is allowed, once
		}
		classUpdate(p, old, masked)
		if object.String(p.obj, "status", "phase") == "Bound" {
			if requests := object.Map(masked, "resources", "requests"); requests != nil {
				requests["storage"] = "0"
				object.Keep(requests, object.Map(was, "resources", "requests"), "storage")
			}
			object.Keep(masked, was, "volumeAttributesClassName")
		}
		if !validation.Equal(masked, wasMasked) {
			spec.note(validation.Forbidden(spec.path, "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"+
				unversioned.Diff("core.PersistentVolumeClaimSpec", wasMasked, masked)))
		}
		claimShrinks(spec, old)
		part{spec.obj, nil, p.errs}.immutable("volumeMode", "*s", was)
		claimAttributes(spec, old)
	}
}

// classUpdate checks that a claim changes its storage class only from one in
// the annotation to the same one in the specification, or from none. It masks
// the allowed change.
func classUpdate(p part, old, masked map[string]any) {
	annotation, annotated := object.Value(old, "metadata", "annotations", classAnnotation).(string)
	_, hadClass := object.Value(old, "spec", "storageClassName").(string)
	class, hasClass := p.within("spec").obj["storageClassName"].(string)
	now, stillAnnotated := object.Value(p.obj, "metadata", "annotations", classAnnotation).(string)
	if annotated && !hadClass && hasClass && class == annotation && (!stillAnnotated || now == annotation) {
		delete(masked, "storageClassName")
		return
	}
	if now != annotation {
		p.note(validation.Invalid(p.at("metadata").Child("annotations").Child(classAnnotation), now, "field is immutable"))
	}
	if hasClass && !hadClass && (!annotated || class == annotation) {
		delete(masked, "storageClassName")
	}
}

// claimShrinks checks that a claim asks for no less than it has got.
func claimShrinks(p part, old map[string]any) {
	size := func(obj map[string]any, path ...string) string {
		if q := object.String(obj, path...); q != "" {
			return q
		}
		return "0"
	}
	is := size(p.obj, "resources", "requests", "storage")
	if compare(is, size(old, "spec", "resources", "requests", "storage")) < 0 && compare(is, size(old, "status", "capacity", "storage")) <= 0 {
		p.note(validation.Forbidden(p.at("resources").Child("requests").Child("storage"), "field can not be less than status.capacity"))
	}
}

// claimAttributes checks that a claim keeps having a class of attributes once
// one was applied.
func claimAttributes(p part, old map[string]any) {
	const name = "volumeAttributesClassName"
	if validation.Equal(p.obj[name], object.Value(old, "spec", name)) || object.Value(old, "status", "currentVolumeAttributesClassName") == nil {
		return
	}
	switch {
	case !p.has(name):
		p.forbid(name, "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil")
	case p.text(name) == "":
		p.forbid(name, "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil")
	}
}

// resizeStatuses are how far a claim has come in growing, sorted.
var resizeStatuses = []string{
	"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending",
}

func validateClaimStatus(obj, _ map[string]any) validation.List {
	return mistakes(obj, nil, func(p part) {
		if p.within("spec").size("accessModes") == 0 {
			p.note(validation.Required(validation.NewPath("Spec", "accessModes"), ""))
		}
		claimStatus(p.within("status"))
	})
}

func claimStatus(p part) {
	for resource, quantity := range p.quantities("capacity") {
		basicResource(p, quantity, p.at("capacity").Key(resource))
	}
	for resource, v := range p.entries("allocatedResourceStatuses") {
		path := p.at("allocatedResourceStatuses")
		p.add(claimResource(resource, path))
		if status, _ := v.(string); !slices.Contains(resizeStatuses, status) {
			p.note(validation.NotSupported(path, validation.NamedString(resource), resizeStatuses))
		}
	}
	for resource, quantity := range p.quantities("allocatedResources") {
		path := p.at("allocatedResources")
		if errs := claimResource(resource, path); len(errs) > 0 {
			p.add(errs)
			continue
		}
		before := len(*p.errs)
		if basicResource(p, quantity, path.Key(resource)); p.sound(before) {
			p.add(resourceQuantity("storage", quantity, path.Key(resource)))
		}
	}
}

// claimResource checks the name of what a claim gets: storage, or something
// that only others know.
func claimResource(name string, path *validation.Path) validation.List {
	if messages := validation.QualifiedName(name); len(messages) > 0 {
		return validation.Each(path, name, messages)
	}
	if isNativeResource(name) && name != "storage" {
		return validation.List{validation.NotSupported(path, name, []string{"storage"})}
	}
	return nil
}

// warnClaim tells of fractions of bytes, and of the annotation for the class.
func warnClaim(obj, _ map[string]any) []string {
	whole := part{obj: obj}
	annotations := whole.within("metadata").within("annotations")
	var warnings []string
	if annotations.has(classAnnotation) {
		warnings = append(warnings, fmt.Sprintf(`%s: deprecated since v1.8; use "storageClassName" attribute instead`, annotations.path.Key(classAnnotation)))
	}
	return append(warnings, warnClaimSpec(whole.within("spec"))...)
}

// warnClaimSpec tells of what a claim asks for in fractions of bytes.
func warnClaimSpec(p part) []string {
	var warnings []string
	resources := p.within("resources")
	for _, list := range []string{"requests", "limits"} {
		if quantity := object.String(resources.obj, list, "storage"); strings.HasSuffix(quantity, "m") && !isWhole(quantity) {
			warnings = append(warnings, fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", resources.at(list).Key("storage"), quantity))
		}
	}
	return warnings
}
