package batch

import (
	"github.com/kubefake/kubefake/internal/table"
)

// cronJobCells returns the cells of a CronJob.
func cronJobCells(r table.Row) []any {
	suspend, last := table.Unset, table.None
	if r.Has("spec", "suspend") {
		suspend = "False"
		if r.Bool("spec", "suspend") {
			suspend = "True"
		}
	}
	if r.Has("status", "lastScheduleTime") {
		last = r.Since("status", "lastScheduleTime")
	}
	containers, images := r.Containers("spec", "jobTemplate", "spec", "template", "spec")
	return []any{
		r.Name(), r.String("spec", "schedule"), r.Or(table.None, "spec", "timeZone"), suspend, r.Len("status", "active"), last, r.Age(),
		containers, images, r.SelectorCell("spec", "jobTemplate", "spec", "selector"),
	}
}
