// Package scheduling has the strategies of the scheduling.k8s.io group: PriorityClasses,
// PodGroups and Workloads.
package scheduling

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"priorityclasses.scheduling.k8s.io": priorityClassStrategy,
		"podgroups.scheduling.k8s.io":       podGroupStrategy,
		"workloads.scheduling.k8s.io":       workloadStrategy,
	}
}
