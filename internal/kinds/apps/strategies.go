// Package apps has the strategies of the apps group: Deployments, ReplicaSets, StatefulSets, DaemonSets and
// ControllerRevisions.
package apps

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"controllerrevisions.apps": controllerRevisionStrategy,
		"daemonsets.apps":          daemonSetStrategy,
		"deployments.apps":         deploymentStrategy,
		"replicasets.apps":         replicaSetStrategy,
		"statefulsets.apps":        statefulSetStrategy,
	}
}
