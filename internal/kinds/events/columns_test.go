package events_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "events", []kindtest.CellsRow{
		{"event", `{involvedObject: {kind: Pod, name: p, fieldPath: f}, type: Normal, reason: R, message: " m\n", source: {component: c, host: h}, firstTimestamp: "2026-01-02T03:04:05Z", lastTimestamp: "2026-01-02T04:04:00Z", count: 3}`,
			[]any{"5s", "Normal", "R", "pod/p", "f", "c, h", "m", "60m", int64(3), "a"}},
		{"event without times", `{}`, []any{"<unknown>", "", "", "", "", "", "", "<unknown>", int64(1), "a"}},
		{"event of the new group", `{regarding: {kind: Pod, name: p}, note: m, reportingController: c, reportingInstance: i, eventTime: "2026-01-02T03:04:05.000000Z", series: {count: 7, lastObservedTime: "2026-01-02T04:04:00.000000Z"}}`,
			[]any{"5s", "", "", "pod/p", "", "c, i", "m", "60m", int64(7), "a"}},
	})
}
