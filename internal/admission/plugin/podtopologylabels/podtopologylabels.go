// Package podtopologylabels is the PodTopologyLabels admission plugin. It copies
// the topology labels of a node to the pods that are bound to it.
package podtopologylabels

import (
	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Mutator].
type Plugin struct{}

var _ admission.Mutator = Plugin{}

// Name returns "PodTopologyLabels".
func (Plugin) Name() string { return "PodTopologyLabels" }

// Resources returns pods.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "pods"}}
}

var nodeKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Node"}

// Mutate labels a new pod that names its node.
func (Plugin) Mutate(a *admission.Attributes) error {
	if a.Subresource == "" && a.Operation == admission.Create {
		for label, v := range Labels(a.Reader, object.String(a.Object, "spec", "nodeName")) {
			object.Set(a.Object, v, "metadata", "labels", label)
		}
	}
	return nil
}

// Labels returns the topology labels of a node, none if it does not exist or node is "".
func Labels(r resource.Reader, node string) map[string]any {
	if node == "" {
		return nil
	}
	topology := map[string]any{}
	labels := r.Get(nodeKind, "", node).At("metadata", "labels")
	for _, label := range []string{"topology.kubernetes.io/zone", "topology.kubernetes.io/region"} {
		if v := labels.At(label); !v.IsNil() {
			topology[label] = v.Shared()
		}
	}
	return topology
}
