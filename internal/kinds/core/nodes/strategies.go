// Package nodes has the strategies of Nodes, and the validation of node selectors, taints
// and tolerations.
package nodes

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"nodes": nodeStrategy,
	}
}
