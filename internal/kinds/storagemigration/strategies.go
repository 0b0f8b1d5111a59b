// Package storagemigration has the strategies of the storagemigration.k8s.io group:
// StorageVersionMigrations.
package storagemigration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"storageversionmigrations.storagemigration.k8s.io": storageVersionMigrationStrategy,
	}
}
