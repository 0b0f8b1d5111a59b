package resourceapi

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

// devices iterates over the devices of a slice. In v1beta1 it yields the field basic
// of each device.
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

// defaultResourceSlice sets allocationMultiplier of the resources of devices.
func defaultResourceSlice(obj map[string]any) {
	for device := range devices(obj) {
		for _, v := range object.Map(device, "nodeAllocatableResourceMappings") {
			if mapping, ok := v.(map[string]any); ok {
				object.SetDefault(mapping, "allocationMultiplier", "1")
			}
		}
	}
}

// defaultTaintTimes sets timeAdded of taints.
func defaultTaintTimes(slice map[string]any, now string) {
	for device := range devices(slice) {
		for taint := range object.Each(device["taints"]) {
			object.SetDefault(taint, "timeAdded", now)
		}
	}
}

// stampResourceSlice sets timeAdded of the taints that an apply adds.
func stampResourceSlice(obj map[string]any, _ object.View, by resource.Author) {
	defaultTaintTimes(obj, by.Now)
}

// sliceFieldLabelError returns the FieldLabelError of a version of ResourceSlices. The
// text contains the version.
func sliceFieldLabelError(t *resource.Type) func(label string) string {
	return func(label string) string {
		return fmt.Sprintf("field label not supported for %s, Kind=%s: %s", t.GroupVersion, t.Kind, label)
	}
}

var resourceSliceStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		GenerationBeforePrepare:  true,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		Default:                  defaultResourceSlice,
		DefaultTime:              defaultTaintTimes,
		PrepareWithAuthor:        stampResourceSlice,
		Validate:                 validateResourceSlice,
		WarningsOnWrite:          warnResourceSlice,
		SelectableFields:         []resource.Field{kind.SelectableField("spec.nodeName", "spec", "nodeName"), kind.SelectableField("spec.driver", "spec", "driver")},
	},
	Released: func(r *release.Release, s *resource.Strategy) {
		if r.Has(behavior.PoolSelectors) {
			s.SelectableFields = append(slices.Clip(s.SelectableFields), kind.SelectableField("spec.pool.name", "spec", "pool", "name"))
		}
	},
	GenerationFields:   []string{"spec"},
	FieldLabelErrorFor: sliceFieldLabelError,
	Cells: func(r table.Row) []any {
		return []any{r.Name(), r.String("spec", "nodeName"), r.String("spec", "driver"), r.String("spec", "pool", "name"), r.Age()}
	},
}
