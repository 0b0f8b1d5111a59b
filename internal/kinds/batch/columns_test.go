package batch_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	const template = `template: {spec: {containers: [{name: c, image: i}, {name: d, image: j}]}}`
	kindtest.TestCells(t, "jobs.batch", []kindtest.CellsRow{
		{"job that is done", `{spec: {completions: 2, ` + template + `}, status: {succeeded: 2, conditions: [{type: Complete, status: "True"}], startTime: "2026-01-02T03:04:05Z", completionTime: "2026-01-02T03:04:15Z"}}`,
			[]any{"a", "Complete", "2/2", "10s", "60m", "c,d", "i,j", "<none>"}},
		{"job of a work queue", `{spec: {parallelism: 3}, status: {conditions: [{type: Suspended, status: "True"}]}}`, []any{"a", "Suspended", "0/1 of 3", "", "60m", "", "", "<none>"}},
	})
	kindtest.TestCells(t, "cronjobs.batch", []kindtest.CellsRow{
		{"cron job", `{spec: {schedule: "* * * * *", suspend: false, jobTemplate: {spec: {` + template + `}}}, status: {active: [{}], lastScheduleTime: "2026-01-02T04:03:05Z"}}`,
			[]any{"a", "* * * * *", "<none>", "False", int64(1), "60s", "60m", "c,d", "i,j", "<none>"}},
	})
}
