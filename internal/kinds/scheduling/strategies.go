// Package scheduling has the strategies of the scheduling.k8s.io group: PriorityClasses, and
// the columns of the kinds that no release serves without a feature gate.
package scheduling

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/table"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"priorityclasses.scheduling.k8s.io": priorityClassStrategy,
		"podgroups.scheduling.k8s.io":       {Cells: podGroupCells},
		"workloads.scheduling.k8s.io":       {Cells: table.NameAndAge},
	}
}
