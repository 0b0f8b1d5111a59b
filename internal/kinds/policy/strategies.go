// Package policy has the strategies of the policy group: PodDisruptionBudgets.
package policy

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"poddisruptionbudgets.policy": podDisruptionBudgetStrategy,
	}
}
