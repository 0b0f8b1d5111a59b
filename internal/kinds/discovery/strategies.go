// Package discovery has the strategies of the discovery.k8s.io group: EndpointSlices.
package discovery

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"endpointslices.discovery.k8s.io": endpointSliceStrategy,
	}
}
