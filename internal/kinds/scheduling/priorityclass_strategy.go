package scheduling

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

func defaultPriorityClass(obj map[string]any) {
	object.SetDefault(obj, "preemptionPolicy", "PreemptLowerPriority")
}

var priorityClassStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Default:                  defaultPriorityClass,
		Validate:                 validatePriorityClass,
		Undeletable: func(name string) string {
			if _, ok := systemPriorities[name]; ok {
				return "this is a system priority class and cannot be deleted"
			}
			return ""
		},
	},
	GenerationFields: []string{"value"},
	Cells: func(r table.Row) []any {
		return []any{r.Name(), r.Int("value"), r.Bool("globalDefault"), r.Age(), r.String("preemptionPolicy")}
	},
}
