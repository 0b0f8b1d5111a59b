// Package lifecycle has the strategies of the lifecycle.k8s.io group: EvictionRequests and
// Evictions.
package lifecycle

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"evictionrequests.lifecycle.k8s.io": evictionRequestStrategy,
		"evictions.lifecycle.k8s.io":        evictionStrategy,
	}
}
