// Package apiextensions has the strategies of the apiextensions.k8s.io group: CustomResourceDefinitions.
package apiextensions

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"customresourcedefinitions.apiextensions.k8s.io": customResourceDefinitionStrategy,
	}
}
