// Package pods has the strategies of Pods and pod templates.
package pods

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"pods": podStrategy,
	}
}
