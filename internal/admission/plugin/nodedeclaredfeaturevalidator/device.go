package nodedeclaredfeaturevalidator

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
)

// allocatable is the feature, and the feature gate, of devices with allocatable resources of
// their nodes.
const allocatable = "DRANodeAllocatableResources"

// checkDevices checks that the nodes of each device with allocatable resources declare the
// feature for them.
func checkDevices(a *admission.Attributes) error {
	r := a.Access.Release()
	if !r.Has(behavior.ChecksDeviceFeatures) || !r.Enabled("NodeDeclaredFeatures") || !r.Enabled(allocatable) {
		return nil
	}
	spec := object.Map(a.Object, "spec")
	for device := range object.Each(spec["devices"]) {
		if len(object.Map(device, "nodeAllocatableResources")) == 0 {
			continue
		}
		place := spec
		if object.Bool(spec, "perDeviceNodeSelection") {
			place = device
		}
		if err := checkNodesOf(a, place, object.String(device, "name")); err != nil {
			return err
		}
	}
	return nil
}

// checkNodesOf checks the nodes of a device, which a ResourceSlice or a device names: place.
func checkNodesOf(a *admission.Attributes, place map[string]any, device string) error {
	selector, ok := place["nodeSelector"].(map[string]any)
	if name := object.String(place, "nodeName"); name != "" {
		node := a.Reader.Get(nodeKind, "", name)
		if node.IsNil() {
			return fmt.Errorf("node %q not found for device %q", name, device)
		}
		return checkDeclares(node)
	}
	if !ok && !object.Bool(place, "allNodes") {
		return fmt.Errorf("device %q in ResourceSlice has NodeAllocatableResources but does not map to any nodes", device)
	}
	for _, node := range a.Reader.List(nodeKind, "") {
		if ok && !nodes.MatchesSelector(object.ViewOf(selector), node) {
			continue
		}
		if err := checkDeclares(node); err != nil {
			return err
		}
	}
	return nil
}

func checkDeclares(node object.View) error {
	if slices.Contains(node.Strings("status", "declaredFeatures"), allocatable) {
		return nil
	}
	return fmt.Errorf("node %q does not support %s feature", node.String("metadata", "name"), allocatable)
}
