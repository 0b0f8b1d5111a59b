package apps

import (
	"github.com/kubefake/kubefake/internal/table"
)

// replicaSetCells returns the cells of a ReplicaSet.
func replicaSetCells(r table.Row) []any {
	containers, images := r.Containers("spec", "template", "spec")
	return []any{
		r.Name(), r.Int("spec", "replicas"), r.Int("status", "replicas"), r.Int("status", "readyReplicas"), r.Age(),
		containers, images, r.SelectorCell("spec", "selector"),
	}
}
