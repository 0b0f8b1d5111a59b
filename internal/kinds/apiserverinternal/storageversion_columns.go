package apiserverinternal

import (
	"cmp"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// storageVersionCells returns the cells of a StorageVersion.
func storageVersionCells(r table.Row) []any {
	var versions []string
	for _, v := range r.Objects("status", "storageVersions") {
		versions = append(versions, object.String(v, "apiServerID")+"="+object.String(v, "encodingVersion"))
	}
	return []any{r.Name(), r.OrUnset("status", "commonEncodingVersion"), cmp.Or(table.JoinFirst(versions, 3, ","), table.Unset), r.Age()}
}
