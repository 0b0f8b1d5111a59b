// Package apiregistration has the strategies of the apiregistration.k8s.io group: APIServices.
package apiregistration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"apiservices.apiregistration.k8s.io": apiServiceStrategy,
	}
}
