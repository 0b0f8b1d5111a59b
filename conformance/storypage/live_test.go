package storypage

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
)

// serve returns a server with a listener, which a browser can reach.
func serve(t *testing.T, options ...fakeapi.Option) world {
	return world{t, fakeapi.Start(t, append([]fakeapi.Option{fakeapi.WithManualClock(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))}, options...)...)}
}

// openLive opens the page of a server, with a fragment, and waits until it has what happened so far.
func openLive(w world, fragment string) *tab {
	w.Helper()
	p := openTab(w.T, w.URL+"/debug/fakeapi/"+fragment, w.URL+"/debug/fakeapi/")
	p.await(fmt.Sprintf("instance && model.revision >= %d", w.Revision()))
	return p
}

// TestLive checks that the page shows what happens while it happens.
func TestLive(t *testing.T) {
	w := serve(t)
	w.as("kubectl/v1", "POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	p := openLive(w, "")
	assert.Equal(t, "live", p.texts("#state")[0])
	assert.Equal(t, "true", eval[string](p, `byId("follow").getAttribute("aria-pressed")`))
	p.find("create namespaces shop")

	seen := w.watch("manager/v1", "/api/v1/namespaces")
	w.as("kubectl/v1", "PATCH", "/api/v1/namespaces/shop", `{"metadata":{"labels":{"a":"1"}}}`)
	seen()
	p.await(`chart.lines.some((e) => e.text.includes("metadata.labels"))`)
	p.clickLine(p.find("metadata.labels"))
	assert.Contains(t, p.texts("#details h2")[0], "patch by kubectl")
	p.await(`model.readers.some((r) => r.client.name === "manager" && r.marks.some((m) => m.kind === "step"))`)
	p.press("Escape", "ArrowRight", "End")
	assert.Contains(t, p.texts("#details h3 + table tr"), "managerwatch namespacesafter 0 µs")

	require.NoError(t, w.SetLag("namespaces", fakeapi.Lag{Frozen: true}))
	_, err := w.Inject(faults.ConflictOnce("namespaces"))
	require.NoError(t, err)
	busy, err := w.Inject(faults.Fault{ID: "busy", Verb: "delete", Code: 503})
	require.NoError(t, err)
	_, err = w.Inject(faults.Fault{ID: "short", Verb: "delete", Code: 429, Lifetime: time.Second})
	require.NoError(t, err)
	for range 2 {
		w.as("kubectl/v1", "PATCH", "/api/v1/namespaces/shop", `{"metadata":{"labels":{"a":"2"}}}`)
	}
	w.settle()
	fork, err := w.NewFork()
	require.NoError(t, err)
	defer fork.Close()
	w.Clock().Advance(time.Minute)
	w.Compact(0)
	p.await(`chart.lines.some((e) => e.no === "compact")`)
	p.find("a fault: ")
	p.press("f")
	p.await(`chart.scale.max - chart.view.hi < 0.5`)
	assert.Positive(t, p.shapes("span"), "the lag")
	assert.Positive(t, p.shapes("chip"), "the manager is behind")
	assert.Equal(t, 1, p.shapes("settle"))
	for _, cut := range []string{"fork", "clock", "compaction"} {
		assert.Equal(t, 1, p.shapes("cut "+cut), cut)
	}
	assert.Equal(t, 3, p.shapes("injected"), "the faults")
	ends := func() []bool {
		return eval[[]bool](p, `chart.shapes.filter((s) => s.look === "injected").map((s) => s.x + s.width < chart.x(chart.scale.end) - 1)`)
	}
	assert.Equal(t, []bool{true, false, true}, ends(), "one is used up, one can still hit, and one has reached its lifetime")
	p.clickShape(`s.look === "injected"`)
	assert.Contains(t, p.texts("#details")[0], "update,patch of namespaces: 409, once")
	assert.Contains(t, p.texts("#details")[0], "later: heal")
	p.click("#details [data-go]")
	assert.Contains(t, p.texts("#details .message")[0], "used up: ")
	busy.Remove()
	w.as("kubectl/v1", "PATCH", "/api/v1/namespaces/shop", `{"metadata":{"labels":{"a":"3"}}}`)
	p.await(`chart.lines.some((e) => e.text.includes("2 → 3"))`)
	p.press("f")
	p.await(`chart.scale.max - chart.view.hi < 0.5`)
	assert.Equal(t, []bool{true, true, true}, ends())
	p.clickLine(p.find("the server has settled"))
	assert.Contains(t, p.texts("#details .message")[0], "the server has settled")
}

// TestFollow checks that the newest events stay in view until the user looks elsewhere.
func TestFollow(t *testing.T) {
	w := serve(t)
	write := func(from, to int) {
		for i := from; i < to; i++ {
			_, err := w.Store(fakeapi.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": fmt.Sprintf("c-%d", i), "namespace": "default"}})
			require.NoError(t, err)
		}
	}
	write(0, 200)
	p := openLive(w, "")
	write(200, 300)
	p.await(`chart.lines.some((e) => e.text.includes("c-299")) && chart.scale.max - chart.view.hi < 0.5`)
	assert.NotZero(t, p.marks(p.find("default/c-299")), "the newest is in view")

	p.press("ArrowLeft", "Home")
	assert.Equal(t, "false", eval[string](p, `byId("follow").getAttribute("aria-pressed")`), "what was selected stays in view")
	at := p.view()
	write(300, 400)
	p.await(`chart.lines.some((e) => e.text.includes("c-399"))`)
	assert.Equal(t, at, p.view())
	p.click("#follow")
	p.await(`chart.scale.max - chart.view.hi < 0.5`)
	assert.NotZero(t, p.marks(p.find("default/c-399")))
	assert.True(t, eval[bool](p, `(() => {
		const fresh = new Chart(model);
		fresh.span = 120;
		fresh.follow();
		return isFinite(fresh.view.hi);
	})()`), "events can come before the first frame, in which the chart reads its width")
}

// TestForget checks that the page keeps a bounded number of events.
func TestForget(t *testing.T) {
	w := serve(t)
	p := openLive(w, "")
	assert.Equal(t, []int{200_001, 1}, eval[[]int](p, `(() => {
		const revisions = Array.from({ length: 250_001 }, (_, i) => ({ order: 1e6 + i, at: i, revision: 1e6 + i, verb: "create", client: { name: "a" }, brief: "", changes: [] }));
		const part = { began: new Date(0).toISOString(), ended: revisions.at(-1), revision: 0, revisions, readers: [], requests: [], notes: [] };
		model.clear();
		chart.rebuild();
		chart.add(model.add(part));
		return [model.lines.length, model.gaps];
	})()`))
	eval[bool](p, `(list.draw(), true)`)
	assert.Contains(t, p.texts("#omitted")[0], "Some events were omitted")
}

// TestLiveFilter checks the filters by client, verb and status.
func TestLiveFilter(t *testing.T) {
	w := serve(t)
	w.as("kubectl/v1", "POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	w.as("manager/v1", "PATCH", "/api/v1/namespaces/shop", `{"metadata":{"labels":{"a":"1"}}}`)
	w.as("manager/v1", "DELETE", "/api/v1/namespaces/none", "")
	p := openLive(w, "")
	for _, row := range []struct {
		filter, value string
		lines         int
	}{
		{"client", "manager", 2}, {"client", "kubectl", 1}, {"verb", "patch", 1}, {"verb", "delete", 1}, {"status", "4xx", 1}, {"status", "2xx", 2}, {"status", "fault", 0},
	} {
		p.pick(row.filter, row.value)
		assert.Len(t, p.lines(), row.lines, "%s %s", row.filter, row.value)
		assert.Contains(t, eval[string](p, `location.hash`), row.filter+"="+row.value)
		p.pick(row.filter, "")
	}
	p = openLive(w, "#client=manager&verb=patch&axis=time")
	assert.Len(t, p.lines(), 1, "a link keeps the filters")
	assert.Equal(t, "time", eval[string](p, `chart.mode`))
}

// TestCuts checks that the page shows a restore and an upgrade of the server, which concern all lanes.
func TestCuts(t *testing.T) {
	w := serve(t, fakeapi.WithRelease("1.36"))
	w.as("kubectl/v1", "POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	before := w.Snapshot()
	w.as("kubectl/v1", "DELETE", "/api/v1/namespaces/shop", "")
	require.NoError(t, w.Restore(before))
	require.NoError(t, w.Upgrade("1.37"))
	p := openLive(w, "")
	p.await(`chart.lines.some((e) => e.no === "upgrade") && chart.lines.some((e) => e.no === "state")`)
	for _, cut := range []string{"state", "upgrade"} {
		assert.Equal(t, 1, p.shapes("cut "+cut), cut)
	}
	p.clickShape(`s.id === "` + p.find("1.37") + `"`)
	assert.Contains(t, p.texts("#details h2")[0], "upgrade")
}
