package apps

import (
	"github.com/kubefake/kubefake/internal/table"
)

// deploymentCells returns the cells of a Deployment.
func deploymentCells(r table.Row) []any {
	selector, valid := r.Selector("spec", "selector")
	if !valid {
		selector = "<invalid>"
	}
	containers, images := r.Containers("spec", "template", "spec")
	return []any{
		r.Name(), table.Fraction(r.Int("status", "readyReplicas"), r.Int("spec", "replicas")),
		r.Int("status", "updatedReplicas"), r.Int("status", "availableReplicas"), r.Age(), containers, images, selector,
	}
}
