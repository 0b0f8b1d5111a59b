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
		SetLabels(a.Reader, a.Object, object.String(a.Object, "spec", "nodeName"))
	}
	return nil
}

// SetLabels sets the topology labels of obj to those of the node. It does
// nothing if the node does not exist or node is "".
func SetLabels(r resource.Reader, obj map[string]any, node string) {
	if node == "" {
		return
	}
	labels := object.Map(r.Get(nodeKind, "", node), "metadata", "labels")
	for _, key := range []string{"topology.kubernetes.io/zone", "topology.kubernetes.io/region"} {
		if v, ok := labels[key]; ok {
			object.Set(obj, v, "metadata", "labels", key)
		}
	}
}
