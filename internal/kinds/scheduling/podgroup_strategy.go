package scheduling

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

var podGroupStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Default:                  defaultPodGroup,
		Validate:                 validatePodGroup,
	},
	Status: kind.Status{Metadata: kind.StatusMetadataNone, Validate: validatePodGroupStatus},
	Cells:  podGroupCells,
}

var workloadStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Validate:                 validateWorkload,
	},
	Cells: table.NameAndAge,
}

func defaultPodGroup(obj map[string]any) {
	object.SetDefault(object.EnsureMap(obj, "spec"), "disruptionMode", "Pod")
}
