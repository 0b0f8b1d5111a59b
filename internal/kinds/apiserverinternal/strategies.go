// Package apiserverinternal has the strategies of the internal.apiserver.k8s.io group: StorageVersions.
package apiserverinternal

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"storageversions.internal.apiserver.k8s.io": storageVersionStrategy,
	}
}
