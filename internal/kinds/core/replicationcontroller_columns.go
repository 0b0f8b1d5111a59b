package core

import (
	"github.com/kubefake/kubefake/internal/table"
)

// replicationControllerCells returns the cells of a ReplicationController.
func replicationControllerCells(r table.Row) []any {
	containers, images := r.Containers("spec", "template", "spec")
	return []any{
		r.Name(), r.Int("spec", "replicas"), r.Int("status", "replicas"), r.Int("status", "readyReplicas"), r.Age(),
		containers, images, r.Labels("spec", "selector"),
	}
}
