package scheduling

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

var alpha2PodGroupStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Default:                  defaultAlpha2PodGroup,
		Validate:                 validateAlpha2PodGroup,
	},
	Status: kind.Status{Metadata: kind.StatusMetadataNone, Validate: validatePodGroupStatus},
	Cells:  alpha2PodGroupCells,
}

var alpha2WorkloadStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Validate:                 validateAlpha2Workload,
	},
	Cells: table.NameAndAge,
}

func defaultAlpha2PodGroup(obj map[string]any) {
	object.SetDefault(object.EnsureMap(obj, "spec"), "disruptionMode", "Pod")
}
