// Package storagemigration has the columns of the storagemigration.k8s.io group, which no
// release serves without a feature gate: StorageVersionMigrations.
package storagemigration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"storageversionmigrations.storagemigration.k8s.io": {Cells: storageVersionMigrationCells},
	}
}
