// Package taintnodesbycondition is the TaintNodesByCondition admission plugin.
// No pod is scheduled to a new node before a controller removes its taint.
package taintnodesbycondition

import (
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Mutator].
type Plugin struct{}

var _ admission.Mutator = Plugin{}

// Name returns "TaintNodesByCondition".
func (Plugin) Name() string { return "TaintNodesByCondition" }

// Resources returns nodes.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "nodes"}}
}

// Mutate adds the not-ready taint to a new node.
func (Plugin) Mutate(a *admission.Attributes) error {
	const key, effect = "node.kubernetes.io/not-ready", "NoSchedule"
	if a.Subresource != "" || a.Operation != admission.Create {
		return nil
	}
	taints := object.List(a.Object, "spec", "taints")
	for taint := range object.Each(taints) {
		if taint["key"] == key && taint["effect"] == effect {
			return nil
		}
	}
	object.Set(a.Object, append(slices.Clip(taints), map[string]any{"key": key, "effect": effect}), "spec", "taints")
	return nil
}
