package apps

import (
	"github.com/kubefake/kubefake/internal/table"
)

// statefulSetCells returns the cells of a StatefulSet.
func statefulSetCells(r table.Row) []any {
	containers, images := r.Containers("spec", "template", "spec")
	return []any{r.Name(), table.Fraction(r.Int("status", "readyReplicas"), r.Int("spec", "replicas")), r.Age(), containers, images}
}
