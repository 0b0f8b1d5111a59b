package resourceapi

import (
	"github.com/kubefake/kubefake/internal/table"
)

// taintRuleCells returns the cells of a DeviceTaintRule.
func taintRuleCells(r table.Row) []any {
	added := ""
	if r.Has("spec", "taint", "timeAdded") {
		added = r.Since("spec", "taint", "timeAdded")
	}
	return []any{
		r.Name(), r.String("spec", "taint", "key"), r.String("spec", "taint", "value"), r.String("spec", "taint", "effect"), added, r.Age(),
	}
}
