package flowcontrol

import (
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// flowSchemaCells returns the cells of a FlowSchema.
func flowSchemaCells(r table.Row) []any {
	dangling := "?"
	for _, c := range slices.Backward(r.Objects("status", "conditions")) {
		if object.String(c, "type") == "Dangling" {
			dangling = object.String(c, "status")
		}
	}
	return []any{
		r.Name(), r.String("spec", "priorityLevelConfiguration", "name"), r.Int("spec", "matchingPrecedence"),
		r.Or(table.None, "spec", "distinguisherMethod", "type"), r.Age(), dangling,
	}
}
