package resourceapi

import (
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkNodeAllocatable checks how a device counts as a resource of its Node, since v1.37.
func checkNodeAllocatable(path *validation.Path, name string, entry, capacity map[string]any) (errs validation.List) {
	if name != "cpu" && name != "memory" && !resources.IsHugePages(name) {
		errs = append(errs, validation.Invalid(path, name, "must be a node allocatable resource name"))
	}
	mapping, mapped := entry["mapping"].(map[string]any)
	overhead, added := entry["overhead"].(map[string]any)
	if !mapped && !added {
		errs = append(errs, validation.Required(path, "at least one of mapping or overhead must be set"))
	}
	if mapped {
		errs = append(errs, checkAllocatableMapping(path.Child("mapping"), mapping, capacity)...)
	}
	if added {
		errs = append(errs, checkAllocatableOverhead(path.Child("overhead"), overhead)...)
	}
	return errs
}

func checkAllocatableMapping(path *validation.Path, mapping, capacity map[string]any) (errs validation.List) {
	multiplier, multiplied := mapping["capacityMultiplier"].(string)
	key, keyed := mapping["capacityKey"].(string)
	perDevice, counted := mapping["deviceMultiplier"].(string)
	switch {
	case !keyed:
		if multiplied {
			errs = append(errs, validation.Required(path.Child("capacityKey"), "capacityKey is required when capacityMultiplier is set"))
		}
	case key == "":
		errs = append(errs, validation.Invalid(path.Child("capacityKey"), "", "capacityKey must not be an empty string"))
	case capacity[key] == nil:
		errs = append(errs, validation.NotFound(path.Child("capacityKey"), key))
	}
	switch {
	case !keyed:
	case !multiplied:
		errs = append(errs, validation.Required(path.Child("capacityMultiplier"), "capacityMultiplier is required when capacityKey is set"))
	case quantity.Compare(multiplier, "0") <= 0:
		errs = append(errs, validation.Invalid(path.Child("capacityMultiplier"), multiplier, "must be positive"))
	}
	if counted && quantity.Compare(perDevice, "0") <= 0 {
		errs = append(errs, validation.Invalid(path.Child("deviceMultiplier"), perDevice, "must be positive"))
	}
	const members = "`capacityKey`, `deviceMultiplier`"
	switch {
	case !keyed && !counted:
		errs = append(errs, validation.Invalid(path, "", "must specify one of: "+members))
	case keyed && counted:
		errs = append(errs, validation.Invalid(path, "{capacityKey, deviceMultiplier}", "must specify exactly one of: "+members))
	}
	return errs
}

func checkAllocatableOverhead(path *validation.Path, overhead map[string]any) (errs validation.List) {
	if overhead["perPod"] == nil && overhead["perContainer"] == nil {
		return validation.List{validation.Invalid(path, "", "at least one of perPod or perContainer must be set")}
	}
	for _, name := range []string{"perPod", "perContainer"} {
		if n, ok := overhead[name].(string); ok && quantity.Compare(n, "0") < 0 {
			errs = append(errs, validation.Invalid(path.Child(name), n, "must be non-negative"))
		}
	}
	return errs
}

// checkPartitionType checks that the devices of a slice that consume counters have the attribute
// that names the type of their partition.
func checkPartitionType(spec validation.View) {
	const field = "partitionTypeAttribute"
	if !spec.Has(field) {
		return
	}
	name := spec.String(field)
	consumes := false
	for device := range object.Each(spec.Obj["devices"]) {
		consumes = consumes || len(object.List(device, "consumesCounters")) > 0
	}
	if !consumes {
		spec.InvalidString(field, "may only be set on a slice which declares devices that consume counters")
	}
	if checkFullAttributeName(spec, field); !consumes || !strings.Contains(name, "/") {
		return
	}
	bare, _ := strings.CutPrefix(name, spec.String("driver")+"/")
	for _, device := range spec.Each("devices") {
		if device.Len("consumesCounters") == 0 {
			continue
		}
		attributes, path := object.Map(device.Obj, "attributes"), device.At("attributes").Key(name)
		attribute, ok := attributes[name].(map[string]any)
		if !ok && bare != "" {
			attribute, ok = attributes[bare].(map[string]any)
		}
		switch {
		case !ok:
			device.Add(validation.Required(path, "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set"))
		case attribute["string"] == nil:
			device.Add(validation.Invalid(path, validation.AsGoType("resource.DeviceAttribute", attribute), "must be a string value because `partitionTypeAttribute` names this attribute"))
		}
	}
}

// A constrainedSet has, by the name of a request, "" for all, the attributes that the constraints of
// a claim name.
type constrainedSet map[string]map[string]bool

func constrainedAttributes(devices map[string]any) constrainedSet {
	out := constrainedSet{}
	for constraint := range object.Each(devices["constraints"]) {
		name, ok := constraint["matchAttribute"].(string)
		if !ok {
			if name, ok = constraint["distinctAttribute"].(string); !ok {
				continue
			}
		}
		requests := object.Strings(constraint, "requests")
		if len(requests) == 0 {
			requests = []string{""}
		}
		for _, request := range requests {
			if out[request] == nil {
				out[request] = map[string]bool{}
			}
			out[request][name] = true
		}
	}
	return out
}

// has reports whether a constraint of a request, which may be "request/subrequest", names an attribute.
func (c constrainedSet) has(request, name string) bool {
	parent, _, _ := strings.Cut(request, "/")
	return c[""][name] || c[request][name] || c[parent][name]
}

// checkDerivedAttributes checks the derived attributes of a request.
func checkDerivedAttributes(request validation.View, name string, constrained constrainedSet) {
	seen := validation.Seen{}
	for _, attribute := range request.Each("derivedAttributes") {
		switch derived := attribute.String("name"); {
		case derived == "":
			attribute.Required("name", "")
		default:
			if !constrained.has(name, derived) {
				attribute.InvalidNamed("name", "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request")
			}
			checkFullAttributeName(attribute, "name")
		}
		attribute.Require("expression")
		if key := attribute.String("name"); seen[key] {
			attribute.Add(validation.Duplicate(attribute.Path, key))
		} else {
			seen[key] = true
		}
	}
}
