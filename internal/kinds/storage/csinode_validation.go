package storage

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateCSINode(obj map[string]any, old object.View) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), checkCSINode, func(p validation.View) {
		if !old.IsNil() {
			checkCSINodeUpdate(p, old.At("spec"))
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
func checkCSINodeUpdate(p validation.View, old object.View) {
	for was := range old.At("drivers").Objects() {
		for is := range object.Each(p.Obj["drivers"]) {
			if !was.At("name").EqualTo(is["name"]) {
				continue
			}
			const gate = "MutableCSINodeAllocatableCount"
			if !validation.Equal(is, was) {
				p.Add(validation.Invalid(p.At("drivers"), validation.AsGoType("storage.CSINodeDriver", is), "field is immutable").WithoutGate(gate).Before(behavior.FieldPaths, validation.Field("CSINodeDriver")))
			}
			is, was := object.ShallowCopy(is), was.ShallowCopy()
			delete(is, "allocatable")
			delete(was, "allocatable")
			if !validation.Equal(is, was) {
				p.Add(validation.Invalid(p.At("drivers"), validation.AsGoType("storage.CSINodeDriver", is), "field is immutable").WithGate(gate, nil))
			}
		}
	}
}
