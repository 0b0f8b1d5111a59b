package resourceapi

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// prepareResourceSlice drops what disabled feature gates hold back.
func prepareResourceSlice(obj, _ map[string]any) {
	for device := range devices(obj) {
		delete(device, "nodeAllocatableResourceMappings")
		for _, v := range object.Map(device, "attributes") {
			attribute, _ := v.(map[string]any)
			for _, list := range []string{"bools", "ints", "strings", "versions"} {
				delete(attribute, list)
			}
		}
	}
}

// devices are the devices of a slice. In v1beta1 what describes one stands a
// level lower.
func devices(slice map[string]any) func(yield func(map[string]any) bool) {
	return func(yield func(map[string]any) bool) {
		for device := range object.Each(object.Value(slice, "spec", "devices")) {
			if basic := object.Map(device, "basic"); basic != nil {
				device = basic
			}
			if !yield(device) {
				return
			}
		}
	}
}

// stampResourceSlice dates the taints of devices.
func stampResourceSlice(obj, _ map[string]any, by resource.Author) {
	for device := range devices(obj) {
		for taint := range object.Each(device["taints"]) {
			object.SetDefault(taint, "timeAdded", by.Now)
		}
	}
}

// unknownSliceField words the refusal of a field label, which names the version.
func unknownSliceField(t *resource.Type) func(label string) string {
	return func(label string) string {
		return fmt.Sprintf("field label not supported for %s, Kind=%s: %s", t.GroupVersion, t.Kind, label)
	}
}

var resourceSliceStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		GenerationBeforePrepare:  true,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		Prepare:                  prepareResourceSlice,
		PrepareWithAuthor:        stampResourceSlice,
		Validate:                 validateResourceSlice,
		WarningsOnWrite:          warnResourceSlice,
		SelectableFields:         []resource.Field{kind.SelectableField("spec.nodeName", "spec", "nodeName"), kind.SelectableField("spec.driver", "spec", "driver")},
	},
	GenerationFields:   []string{"spec"},
	FieldLabelErrorFor: unknownSliceField,
}
