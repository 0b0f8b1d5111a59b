package policy

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// disruptionBudgetCells returns the cells of a PodDisruptionBudget.
func disruptionBudgetCells(r table.Row) []any {
	limit := func(name string) string {
		if !r.Has("spec", name) {
			return "N/A"
		}
		return object.ViewOf(r.Obj).Text("spec", name)
	}
	return []any{r.Name(), limit("minAvailable"), limit("maxUnavailable"), r.Int("status", "disruptionsAllowed"), r.Age()}
}
