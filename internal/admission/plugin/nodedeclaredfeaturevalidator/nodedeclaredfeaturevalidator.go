// Package nodedeclaredfeaturevalidator is the NodeDeclaredFeatureValidator admission
// plugin. It refuses updates of pods that need a feature which the pod's node does
// not list in status.declaredFeatures, and devices of nodes without the feature that they need.
//
// See https://kubernetes.io/docs/concepts/scheduling-eviction/node-declared-features/.
package nodedeclaredfeaturevalidator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// Plugin implements [admission.Validator].
type Plugin struct{}

var _ admission.Validator = Plugin{}

// Name returns "NodeDeclaredFeatureValidator".
func (Plugin) Name() string { return "NodeDeclaredFeatureValidator" }

var resourceSlices = status.GroupResource{Group: "resource.k8s.io", Resource: "resourceslices"}

// Resources returns pods and resourceslices.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "pods"}, resourceSlices}
}

var nodeKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Node"}

// Validate checks an update of a pod that is bound to a node, if it changes the spec, and the
// devices of a ResourceSlice.
func (Plugin) Validate(a *admission.Attributes) error {
	if a.GroupResource() == resourceSlices {
		return checkDevices(a)
	}
	name := object.String(a.Object, "spec", "nodeName")
	if a.Subresource != "" && a.Subresource != "resize" || a.Operation != admission.Update ||
		name == "" || pods.SameGeneration(a.Object, a.Old) || !a.Access.Release().Enabled("NodeDeclaredFeatures") {
		return nil
	}
	needed := neededFeatures(object.Map(a.Object, "spec"), a.Old.At("spec"))
	if len(needed) == 0 {
		return nil
	}
	node := a.Reader.Get(nodeKind, "", name)
	if node.IsNil() {
		return fmt.Errorf("node %q not found", name)
	}
	declared := node.Strings("status", "declaredFeatures")
	needed = slices.DeleteFunc(needed, func(feature string) bool { return slices.Contains(declared, feature) })
	if len(needed) > 0 {
		return fmt.Errorf("pod update requires features %s which are not available on node %q", strings.Join(needed, ", "), name)
	}
	return nil
}

// neededFeatures returns the features that a node needs for an update, sorted.
func neededFeatures(spec map[string]any, old object.View) (needed []string) {
	if !validation.Equal(spec["resources"], old.At("resources")) {
		needed = append(needed, "InPlacePodLevelResourcesVerticalScaling")
	}
	if changesInitContainers(spec, old) {
		needed = append(needed, "InPlacePodVerticalScalingInitContainers")
	}
	if changesMemoryVolumes(spec, old) {
		needed = append(needed, "InPlacePodVerticalScalingMemoryBackedVolumes")
	}
	return needed
}

// changesInitContainers reports whether the resources of an init container other than a sidecar
// change.
func changesInitContainers(spec map[string]any, old object.View) bool {
	containers := object.List(spec, "initContainers")
	for i, was := range old.At("initContainers").Items() {
		if i >= len(containers) || was.String("restartPolicy") == "Always" {
			continue
		}
		if c, _ := containers[i].(map[string]any); !validation.Equal(c["resources"], was.At("resources")) {
			return true
		}
	}
	return false
}

// changesMemoryVolumes reports whether the sizeLimit of an emptyDir volume in memory changes.
func changesMemoryVolumes(spec map[string]any, old object.View) bool {
	volumes, before := object.List(spec, "volumes"), old.At("volumes")
	if len(volumes) != before.Len() {
		return false
	}
	for i := range volumes {
		now, _ := volumes[i].(map[string]any)
		was := before.Item(i)
		if was.At("name").EqualTo(now["name"]) && object.String(now, "emptyDir", "medium") == "Memory" && pods.SizeLimitChanges(now, was) {
			return true
		}
	}
	return false
}
