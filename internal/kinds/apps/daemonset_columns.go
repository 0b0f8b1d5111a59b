package apps

import (
	"github.com/kubefake/kubefake/internal/table"
)

// daemonSetCells returns the cells of a DaemonSet.
func daemonSetCells(r table.Row) []any {
	containers, images := r.Containers("spec", "template", "spec")
	return []any{
		r.Name(), r.Int("status", "desiredNumberScheduled"), r.Int("status", "currentNumberScheduled"), r.Int("status", "numberReady"),
		r.Int("status", "updatedNumberScheduled"), r.Int("status", "numberAvailable"),
		r.Labels("spec", "template", "spec", "nodeSelector"), r.Age(), containers, images, r.SelectorCell("spec", "selector"),
	}
}
