package storage

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

func defaultCSIDriver(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	object.SetDefault(spec, "attachRequired", true)
	for _, name := range []string{"podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"} {
		object.SetDefault(spec, name, false)
	}
	object.SetDefault(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType")
	if len(object.List(spec, "volumeLifecycleModes")) == 0 {
		spec["volumeLifecycleModes"] = []any{"Persistent"}
	}
}

// prepareCSIDriver increments the generation if an update changes the spec. A new CSIDriver
// has no generation.
func prepareCSIDriver(obj map[string]any, old object.View) {
	if !old.IsNil() && !validation.Equal(obj["spec"], old.At("spec")) {
		generation, _ := old.Int("metadata", "generation")
		object.Meta(obj)["generation"] = generation + 1
	}
}

var csiDriverStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		ReturnDeletedObject: true,
		Default:             defaultCSIDriver,
		Prepare:             prepareCSIDriver,
		Validate:            validateCSIDriver,
		WarningsOnWrite:     warnCSIDriver,
	},
	Released: func(r *release.Release, s *resource.Strategy) {
		if r.Enabled("VolumeLimitScaling") {
			s.Default = func(obj map[string]any) {
				defaultCSIDriver(obj)
				object.SetDefault(object.Map(obj, "spec"), "preventPodSchedulingIfMissing", false)
			}
		}
	},
	Cells: csiDriverCells,
}
