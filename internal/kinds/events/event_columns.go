package events

import (
	"cmp"
	"strings"

	"github.com/kubefake/kubefake/internal/table"
)

// eventCells returns the cells of an Event of either group. It reads fields that
// events.k8s.io renamed under both names.
func eventCells(r table.Row) []any {
	either := func(core, events string) string {
		path := func(p string) []string { return strings.Split(p, ".") }
		return cmp.Or(r.String(path(core)...), r.String(path(events)...))
	}
	first := table.Since(r.Now, cmp.Or(either("firstTimestamp", "deprecatedFirstTimestamp"), r.String("eventTime")))
	last := first
	if t := either("lastTimestamp", "deprecatedLastTimestamp"); t != "" {
		last = table.Since(r.Now, t)
	}
	count := max(r.Int("count"), r.Int("deprecatedCount"))
	if r.Has("series") {
		last, count = r.Since("series", "lastObservedTime"), r.Int("series", "count")
	} else if count == 0 {
		count = 1
	}
	about := strings.ToLower(either("involvedObject.kind", "regarding.kind"))
	if name := either("involvedObject.name", "regarding.name"); name != "" {
		about += "/" + name
	}
	source := cmp.Or(either("source.component", "deprecatedSource.component"), either("reportingComponent", "reportingController"))
	if at := cmp.Or(either("source.host", "deprecatedSource.host"), r.String("reportingInstance")); at != "" {
		source += ", " + at
	}
	return []any{
		last, r.String("type"), r.String("reason"), about, either("involvedObject.fieldPath", "regarding.fieldPath"), source,
		strings.TrimSpace(either("message", "note")), first, count, r.Name(),
	}
}
