package noderestriction

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkNode allows to write the Node of the kubelet, without what would attract or repel
// pods.
func checkNode(a *admission.Attributes, node string) error {
	if a.Name != node {
		return fmt.Errorf("node %q is not allowed to modify node %q", node, a.Name)
	}
	spec, old := object.Map(a.Object, "spec"), a.Old.At("spec")
	switch a.Operation {
	case admission.Create:
		if spec["configSource"] != nil {
			return fmt.Errorf("node %q is not allowed to create pods with a non-nil configSource", node)
		}
		if labels := forbiddenLabels(a.Object, object.View{}); len(labels) > 0 {
			return fmt.Errorf("node %q is not allowed to set the following labels: %s", node, strings.Join(labels, ", "))
		}
	case admission.Update:
		switch labels := forbiddenLabels(a.Object, a.Old); {
		case spec["configSource"] != nil && !validation.Equal(spec["configSource"], old.At("configSource")):
			return fmt.Errorf("node %q is not allowed to update configSource to a new non-nil configSource", node)
		case !validation.Equal(spec["taints"], old.At("taints")):
			return fmt.Errorf("node %q is not allowed to modify taints", node)
		case !validation.Equal(object.Value(a.Object, "metadata", "ownerReferences"), a.Old.At("metadata", "ownerReferences")):
			return fmt.Errorf("node %q is not allowed to modify ownerReferences", node)
		case len(labels) > 0:
			return fmt.Errorf("is not allowed to modify labels: %s", strings.Join(labels, ", "))
		}
	}
	return nil
}

// forbiddenLabels returns the keys of the labels that differ in two nodes and that a
// kubelet may not write, sorted.
func forbiddenLabels(obj map[string]any, old object.View) (keys []string) {
	is, was := object.Map(obj, "metadata", "labels"), old.At("metadata", "labels")
	for key, value := range is {
		if !was.At(key).EqualTo(value) && isForbidden(key) {
			keys = append(keys, key)
		}
	}
	for key := range was.Fields() {
		if _, ok := is[key]; !ok && isForbidden(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// kubeletLabels are the labels of Kubernetes that a kubelet may write.
var kubeletLabels = []string{
	"kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch",
	"topology.kubernetes.io/zone", "topology.kubernetes.io/region", "node.kubernetes.io/instance-type",
	"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region", "beta.kubernetes.io/instance-type",
	"beta.kubernetes.io/os", "beta.kubernetes.io/arch",
}

// isForbidden reports whether a kubelet may not write a label: one of Kubernetes that is
// not for kubelets, or one that isolates nodes.
func isForbidden(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	within := func(parent string) bool { return domain == parent || strings.HasSuffix(domain, "."+parent) }
	if within("node-restriction.kubernetes.io") {
		return true
	}
	return (within("kubernetes.io") || within("k8s.io")) &&
		!slices.Contains(kubeletLabels, key) && !within("kubelet.kubernetes.io") && !within("node.kubernetes.io")
}
