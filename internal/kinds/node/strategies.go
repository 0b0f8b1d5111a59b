// Package node has the strategies of the node.k8s.io group: RuntimeClasses.
package node

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"runtimeclasses.node.k8s.io": runtimeClassStrategy,
	}
}
