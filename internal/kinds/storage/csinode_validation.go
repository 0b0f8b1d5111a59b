package storage

import (
	"fmt"
	"maps"

	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateCSINode(obj, old map[string]any) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), checkCSINode, func(p validation.View) {
		if old != nil {
			checkCSINodeUpdate(p, object.Map(old, "spec"))
		}
	})
}

func checkCSINode(p validation.View) {
	drivers := validation.Seen{}
	for _, d := range p.Each("drivers") {
		volumes.CheckCSIDriverName(d, "name")
		d.Require("nodeID")
		if len(d.String("nodeID")) > maxNodeID {
			d.Invalid("nodeID", fmt.Sprintf("must be %d characters or less", maxNodeID))
		}
		d.Field("allocatable").NonNegative("count")
		drivers.Unique(d, "name")
		keys := validation.Seen{}
		for _, key := range d.Strings("topologyKeys") {
			if key == "" {
				d.Add(validation.Required(d.Path, ""))
			}
			if keys[key] {
				d.Add(validation.Duplicate(d.Path, key))
			}
			keys[key] = true
			d.AddList(validation.Each(d.Path, key, validation.QualifiedName(key)))
		}
	}
}

// checkCSINodeUpdate checks that an update changes only the allocatable field of
// existing drivers, or nothing if the gate for it is off.
func checkCSINodeUpdate(p validation.View, old map[string]any) {
	for was := range object.Each(old["drivers"]) {
		for is := range object.Each(p.Obj["drivers"]) {
			if is["name"] != was["name"] {
				continue
			}
			const gate = "MutableCSINodeAllocatableCount"
			if !validation.Equal(is, was) {
				p.Add(validation.Invalid(p.At("drivers"), validation.AsGoType("storage.CSINodeDriver", is), "field is immutable").WithoutGate(gate).Before(behavior.FieldPaths, validation.Field("CSINodeDriver")))
			}
			is, was := maps.Clone(is), maps.Clone(was)
			delete(is, "allocatable")
			delete(was, "allocatable")
			if !validation.Equal(is, was) {
				p.Add(validation.Invalid(p.At("drivers"), validation.AsGoType("storage.CSINodeDriver", is), "field is immutable").WithGate(gate, nil))
			}
		}
	}
}
