package lifecycle

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/wire"
)

// It is 10:00.
func TestValidateProgress(t *testing.T) {
	const (
		active    = `"targetResponders":[{"name":"a.io/x","priority":2000,"state":"Active"},{"name":"b.io/x","priority":2000,"state":"Inactive"}]`
		next      = `"targetResponders":[{"name":"a.io/x","priority":2000,"state":"Completed"},{"name":"b.io/x","priority":2000,"state":"Active"}]`
		started   = `"responders":[{"name":"a.io/x","startTime":"2026-01-01T09:50:00Z"},{"name":"b.io/x"}]`
		reported  = `"responders":[{"name":"a.io/x","startTime":"2026-01-01T09:50:00Z","completionTime":"2026-01-01T10:00:00Z"},{"name":"b.io/x"}]`
		completed = `"responders":[{"name":"a.io/x","startTime":"2026-01-01T09:50:00Z","completionTime":"2026-01-01T10:00:00Z"},{"name":"b.io/x","startTime":"2026-01-01T10:00:00Z"}]`
		evicted   = `"conditions":[{"type":"TargetEvicted","status":"True","lastTransitionTime":"2026-01-01T10:00:00Z","reason":"R","message":""}]`
		progress  = "must stay Active because the responder is in progress and it should report status.responders.heartbeatTime or status.responders.completionTime"
	)
	one := func(name, priority string) string {
		return `"targetResponders":[{"name":"` + name + `","priority":` + priority + `,"state":"Active"}],"responders":[{"name":"` + name + `","startTime":"2026-01-01T10:00:00Z"}]`
	}
	times := func(times string) string {
		return active + `,"responders":[{"name":"a.io/x","startTime":"2026-01-01T09:50:00Z",` + times + `},{"name":"b.io/x"}]`
	}
	for _, tt := range []struct{ name, old, status, want string }{
		{"first", "", one("a.io/x", "1000"), ""},
		{"reserved priority", "", one("a.io/x", "999"), "status.targetResponders[0].priority: Invalid value: 999: priorities 0-999 are reserved for responders with *.k8s.io suffix"},
		{"priority of the evictor", "", one("imperative-eviction.k8s.io/evictor", "1000"), "status.targetResponders[0].priority: Invalid value: 1000: core k8s responder is expected to have priority: 100"},
		{"untracked", "", `"targetResponders":[{"name":"a.io/x","priority":2000,"state":"Active"}]`,
			`[status.targetResponders[0]: Invalid value: {"Name":"a.io/x","Priority":2000,"State":"Active"}: "a.io/x" has to be tracked in status.responders first, ` +
				`status.responders: Invalid value: null: must be the same length as status.targetResponders and contain the same keys]`},
		{"not started", "", active + `,"responders":[{"name":"a.io/x"},{"name":"b.io/x"}]`, "status.responders[0].startTime: Required value: is required for an active responder"},
		{"started in the past", "", active + "," + started, `status.responders[0].startTime: Invalid value: "2026-01-01T09:50:00Z": must be set to the present time`},
		{"unchanged", active + "," + started, active + "," + started, ""},
		{"report", active + "," + started, active + "," + reported, ""},
		{"next", active + "," + reported, next + "," + completed, ""},
		{"next without a report", active + "," + started, next + "," + started,
			`[status.targetResponders[0].state: Forbidden: ` + progress + `, status.targetResponders[0].state: Invalid value: "Completed": cannot become Completed because the responder didn't report status.responders.completionTime, ` +
				`status.responders[1].startTime: Required value: is required for an active responder]`},
		{"back", next + "," + completed, active + "," + completed,
			`[status.targetResponders[0].state: Invalid value: "Active": must be one of: Completed, because final state is immutable, ` +
				`status.targetResponders[1].state: Invalid value: "Inactive": must be one of: Canceled, Completed, Interrupted, because this responder must reach a final state]`},
		{"evicted", active + "," + started, evicted + "," + active + "," + started,
			`status.targetResponders[0].state: Invalid value: "Active": must be one of: Canceled, Completed, Interrupted, because the eviction request has finished processing`},
		{"no longer evicted", evicted, `"conditions":[]`, "status.conditions: Invalid value: []: TargetEvicted condition status cannot be reverted"},
		{"other names", active + "," + started, `"targetResponders":[{"name":"c.io/x","priority":2000,"state":"Active"},{"name":"b.io/x","priority":2000,"state":"Inactive"}],"responders":[{"name":"c.io/x"},{"name":"b.io/x"}]`,
			`[status.targetResponders: Invalid value: [{"Name":"c.io/x","Priority":2000,"State":"Active"},{"Name":"b.io/x","Priority":2000,"State":"Inactive"}]: must preserve the same keys, ` +
				`status.responders[0].startTime: Required value: is required for an active responder]`},
		{"heartbeat", active + "," + started, times(`"heartbeatTime":"2026-01-01T10:00:10Z"`), ""},
		{"heartbeat before the start", active + "," + started, times(`"heartbeatTime":"2026-01-01T09:40:00Z"`), `status.responders[0].heartbeatTime: Invalid value: "2026-01-01T09:40:00Z": must occur after status.responders[0].startTime`},
		{"heartbeat in the future", active + "," + started, times(`"heartbeatTime":"2026-01-01T11:00:00Z"`), `status.responders[0].heartbeatTime: Invalid value: "2026-01-01T11:00:00Z": must be set to the present time`},
		{"earlier heartbeat", times(`"heartbeatTime":"2026-01-01T10:00:10Z"`), times(`"heartbeatTime":"2026-01-01T10:00:05Z"`), `status.responders[0].heartbeatTime: Invalid value: "2026-01-01T10:00:05Z": cannot be decreased`},
		{"no heartbeat any more", times(`"heartbeatTime":"2026-01-01T10:00:10Z"`), active + "," + started, `status.responders[0].heartbeatTime: Required value: is required once set`},
		{"expects the past", active + "," + started, times(`"expectedCompletionTime":"2026-01-01T09:55:00Z"`), `status.responders[0].expectedCompletionTime: Invalid value: "2026-01-01T09:55:00Z": cannot be set to the past time`},
		{"expects too much", active + "," + started, times(`"expectedCompletionTime":"2046-01-01T09:55:00Z"`), `status.responders[0].expectedCompletionTime: Invalid value: "2046-01-01T09:55:00Z": must complete within 10 years`},
		{"report of an inactive one", active + "," + started, active + `,"responders":[{"name":"a.io/x","startTime":"2026-01-01T09:50:00Z"},{"name":"b.io/x","message":"m"}]`,
			`status.responders[1]: Invalid value: {"Name":"b.io/x","StartTime":null,"HeartbeatTime":null,"ExpectedCompletionTime":null,"CompletionTime":null,"Message":"m"}: field is immutable`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &resource.Write{Object: eviction(t, tt.status), Old: object.ViewOf(eviction(t, tt.old)), Author: resource.Author{Now: "2026-01-01T10:00:00Z"}}
			assert.Equal(t, tt.want, validateProgress(w).Message())
		})
	}
}

// eviction returns an Eviction with fields in its status.
func eviction(t *testing.T, fields string) map[string]any {
	text := `{"metadata":{"name":"a"},"status":{` + fields + `}}`
	require.True(t, json.Valid([]byte(text)), text)
	typ, ok := wire.ForKind("lifecycle.k8s.io", "v1alpha1", "Eviction")
	require.True(t, ok)
	obj, _, err := typ.Decode([]byte(text), wire.DecodeOptions{})
	require.NoError(t, err)
	return obj
}

func TestCompareTargets(t *testing.T) {
	target := func(name string, priority any) map[string]any {
		return map[string]any{"name": name, "priority": priority}
	}
	sorted := []map[string]any{
		target("z.io/x", int64(3)), target("com/x", int64(2)), target("example.com/a", int64(2)), target("example.com/b", int64(2)),
		target("a.example.com/x", int64(2)), target("b.example.com/a", int64(2)), target("example.io/a", int64(2)), target("a.io/x", nil),
	}
	for i := range sorted {
		for j := range sorted {
			assert.Equal(t, i < j, compareTargets(object.ViewOf(sorted[i]), object.ViewOf(sorted[j])) < 0, "%v, %v", sorted[i], sorted[j])
		}
	}
}
