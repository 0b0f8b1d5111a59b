// Package services has the strategies of Services and Endpoints.
package services

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"endpoints": endpointsStrategy,
		"services":  serviceStrategy,
	}
}
