// Package extendedresourcetoleration is the ExtendedResourceToleration admission
// plugin. A pod that requests an extended resource tolerates the taint of that name.
package extendedresourcetoleration

import (
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Mutator].
type Plugin struct{}

var _ admission.Mutator = Plugin{}

// Name returns "ExtendedResourceToleration".
func (Plugin) Name() string { return "ExtendedResourceToleration" }

// Resources returns pods.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "pods"}}
}

// Mutate adds a toleration for each extended resource that a container requests, or
// replaces the toleration of the same taint.
func (Plugin) Mutate(a *admission.Attributes) error {
	if a.Subresource != "" {
		return nil
	}
	requested := map[string]bool{}
	for _, name := range []string{"containers", "initContainers"} {
		for c := range object.Each(object.Value(a.Object, "spec", name)) {
			for r := range object.Map(c, "resources", "requests") {
				if resources.IsExtended(r) {
					requested[r] = true
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(requested)) {
		tolerations := slices.Clone(object.List(a.Object, "spec", "tolerations"))
		toleration := map[string]any{"key": name, "operator": "Exists", "effect": "NoSchedule"}
		replaced := false
		for i, t := range tolerations {
			if t, ok := t.(map[string]any); ok && isFor(t, name) {
				tolerations[i], replaced = toleration, true
			}
		}
		if !replaced {
			tolerations = append(tolerations, toleration)
		}
		object.Set(a.Object, tolerations, "spec", "tolerations")
	}
	return nil
}

// isFor reports whether a toleration is the one of an extended resource, with any
// duration.
func isFor(toleration map[string]any, name string) bool {
	return object.String(toleration, "key") == name && object.String(toleration, "operator") == "Exists" &&
		object.String(toleration, "effect") == "NoSchedule" && object.String(toleration, "value") == ""
}
