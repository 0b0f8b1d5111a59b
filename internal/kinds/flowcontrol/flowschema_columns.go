package flowcontrol

import (
	"cmp"
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

// compareFlowSchemas orders FlowSchemas as requests are matched with them.
func compareFlowSchemas(a, b map[string]any) int {
	precedence := func(obj map[string]any) int64 { return table.Int(obj, "spec", "matchingPrecedence") }
	name := func(obj map[string]any) string { return object.String(obj, "metadata", "name") }
	return cmp.Or(cmp.Compare(precedence(a), precedence(b)), cmp.Compare(name(a), name(b)))
}
