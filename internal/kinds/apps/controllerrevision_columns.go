package apps

import (
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// controllerRevisionCells returns the cells of a ControllerRevision.
func controllerRevisionCells(r table.Row) []any {
	return []any{r.Name(), controller(r), r.Int("revision"), r.Age()}
}

// controller returns the controller in the owner references.
func controller(r table.Row) string {
	for _, o := range r.Objects("metadata", "ownerReferences") {
		if !object.Bool(o, "controller") {
			continue
		}
		kind := object.String(o, "kind")
		if group, _, ok := strings.Cut(object.String(o, "apiVersion"), "/"); ok {
			kind += "." + group
		}
		return strings.ToLower(kind) + "/" + object.String(o, "name")
	}
	return table.None
}
