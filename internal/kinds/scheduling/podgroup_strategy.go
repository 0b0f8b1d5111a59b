package scheduling

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

var podGroupStrategy = kind.Strategy{
	Strategy: resource.Strategy{Validate: validatePodGroup},
	Status:   kind.Status{Metadata: kind.StatusMetadataNone, Validate: validatePodGroupStatus},
	Cells:    podGroupCells,
	Released: defaultPreemptionPolicy,
}

var compositePodGroupStrategy = kind.Strategy{
	Strategy: resource.Strategy{Validate: validateCompositePodGroup},
	Status:   kind.Status{Metadata: kind.StatusMetadataNone, Validate: validateGroupConditions},
	Cells:    compositePodGroupCells,
	Released: defaultPreemptionPolicy,
}

var workloadStrategy = kind.Strategy{
	Strategy: resource.Strategy{Validate: validateWorkload},
	Cells:    table.NameAndAge,
}

// defaultPreemptionPolicy sets the default of a group whose feature gate is on.
func defaultPreemptionPolicy(r *release.Release, s *resource.Strategy) {
	if r.Enabled("PodGroupPreemptionPolicy") {
		s.Default = func(obj map[string]any) {
			object.SetDefault(object.EnsureMap(obj, "spec"), "preemptionPolicy", "PreemptLowerPriority")
		}
	}
}
