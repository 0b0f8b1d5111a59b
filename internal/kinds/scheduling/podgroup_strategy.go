package scheduling

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

var podGroupStrategy = kind.Strategy{
	Strategy: resource.Strategy{Validate: validatePodGroup, Default: defaultGroup},
	Status:   kind.Status{Metadata: kind.StatusMetadataNone, Validate: validatePodGroupStatus},
	Cells:    podGroupCells,
	Released: defaultPreemptionPolicy,
}

var compositePodGroupStrategy = kind.Strategy{
	Strategy: resource.Strategy{Validate: validateCompositePodGroup, Default: defaultGroup},
	Status:   kind.Status{Metadata: kind.StatusMetadataNone, Validate: validateGroupConditions},
	Cells:    compositePodGroupCells,
	Released: defaultPreemptionPolicy,
}

var workloadStrategy = kind.Strategy{
	Strategy: resource.Strategy{Validate: validateWorkload, RepeatsErrors: true},
	Cells:    table.NameAndAge,
}

func defaultGroup(obj map[string]any) {
	if spec := object.EnsureMap(obj, "spec"); spec["disruptionMode"] == nil {
		spec["disruptionMode"] = map[string]any{"single": map[string]any{}}
	}
}

// defaultPreemptionPolicy sets the default of a group whose feature gate is on.
func defaultPreemptionPolicy(r *release.Release, s *resource.Strategy) {
	if r.Enabled("PodGroupPreemptionPolicy") {
		s.Default = func(obj map[string]any) {
			defaultGroup(obj)
			object.SetDefault(object.EnsureMap(obj, "spec"), "preemptionPolicy", "PreemptLowerPriority")
		}
	}
}
