package flowcontrol

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// priorityLevelCells returns the cells of a PriorityLevelConfiguration.
func priorityLevelCells(r table.Row) []any {
	cells := []any{r.Name(), r.String("spec", "type"), table.None, table.None, table.None, table.None, r.Age()}
	if r.Has("spec", "limited") {
		cells[2] = r.Int("spec", "limited", "nominalConcurrencyShares")
	}
	if queuing := object.Map(r.Obj, "spec", "limited", "limitResponse", "queuing"); queuing != nil {
		cells[3], cells[4], cells[5] = table.Int(queuing, "queues"), table.Int(queuing, "handSize"), table.Int(queuing, "queueLengthLimit")
	}
	return cells
}
