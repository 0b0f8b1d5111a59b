// Package coordination has the strategies of the coordination.k8s.io group: Leases and LeaseCandidates.
package coordination

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"leases.coordination.k8s.io":          leaseStrategy,
		"leasecandidates.coordination.k8s.io": leaseCandidateStrategy,
	}
}
