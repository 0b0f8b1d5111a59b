package storagemigration

import (
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// storageVersionMigrationCells returns the cells of a StorageVersionMigration.
func storageVersionMigrationCells(r table.Row) []any {
	resource, status := r.String("spec", "resource", "resource"), "Unknown"
	if group := r.String("spec", "resource", "group"); group != "" {
		resource += "." + group
	}
	for _, c := range r.Objects("status", "conditions") {
		if typ := object.String(c, "type"); object.String(c, "status") == "True" && slices.Contains([]string{"Running", "Failed", "Succeeded"}, typ) {
			status = typ
		}
	}
	return []any{r.Name(), resource, status}
}
