// Package limitpodhardantiaffinitytopology is the LimitPodHardAntiAffinityTopology
// admission plugin. A pod may require anti-affinity on nodes only.
package limitpodhardantiaffinitytopology

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Validator].
type Plugin struct{}

var _ admission.Validator = Plugin{}

// Name returns "LimitPodHardAntiAffinityTopology".
func (Plugin) Name() string { return "LimitPodHardAntiAffinityTopology" }

// Resources returns pods.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "pods"}}
}

const hostname = "kubernetes.io/hostname"

// Validate refuses a pod whose required anti-affinity has another topology key than
// that of nodes.
func (Plugin) Validate(a *admission.Attributes) error {
	if a.Subresource != "" {
		return nil
	}
	for term := range object.Each(object.Value(a.Object, "spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")) {
		if key := object.String(term, "topologyKey"); key != hostname {
			return fmt.Errorf("affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey %v but only key %v is allowed", key, hostname)
		}
	}
	return nil
}
