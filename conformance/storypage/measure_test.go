package storypage

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// TestMeasure prints the figures of docs/page.md. MEASURE turns it on: it takes a minute, and asserts no time.
func TestMeasure(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip("MEASURE is not set")
	}
	w := world{t, fakeapi.Start(t)}
	for i := range 20_000 {
		_, err := w.Store(fakeapi.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": fmt.Sprintf("c-%d", i), "namespace": "default"}})
		require.NoError(t, err)
	}
	create := func() (took []time.Duration) {
		for range 500 {
			began := time.Now()
			resp, err := w.Client().Post(w.URL+"/api/v1/namespaces/default/configmaps", "application/json", strings.NewReader(`{"metadata":{"generateName":"m-"}}`))
			require.NoError(t, err)
			require.Equal(t, http.StatusCreated, resp.StatusCode)
			resp.Body.Close()
			took = append(took, time.Since(began))
		}
		return took
	}
	create()
	p := openLive(w, "")
	t.Log("first paint, ms:", eval[float64](p, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
	var without, with []time.Duration
	for range 16 { // in turns, because the machine has other things to do
		p.navigate("about:blank")
		without = append(without, create()...)
		p.navigate(p.url)
		p.await("instance")
		with = append(with, create()...)
	}
	t.Logf("median create without a page %v, with a page %v", median(without), median(with))

	p = openLive(w, "")
	eval[int](p, `(() => {
		const first = model.ended.order + 1, now = model.ended.at;
		const revisions = Array.from({ length: 100_000 }, (_, i) => ({ order: first + i, at: now + i, revision: 1e7 + i, verb: "create", client: { name: "client-" + (i % 10) }, brief: "configmaps default/x", changes: [{ type: "ADDED", resource: "configmaps", namespace: "default", name: "x" + i }] }));
		const part = { began: new Date(model.began).toISOString(), ended: revisions.at(-1), revision: 0, revisions, readers: [], requests: [], notes: [] };
		chart.add(model.add(part));
		return model.lines.length;
	})()`)
	draw := func() float64 {
		return eval[float64](p, `(() => { const t = performance.now(); for (let i = 0; i < 20; i++) chart.draw(); return (performance.now() - t) / 20; })()`)
	}
	t.Log("draw of 100,000 requests while following, ms:", draw())
	p.press("0")
	t.Log("draw of all 100,000 requests, ms:", draw())
	p.press("f")
	done, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for i, began := 0, time.Now(); ; {
			select {
			case <-tick.C:
				for ; i < int(time.Since(began)/time.Millisecond); i++ { // a ticker drops ticks
					if _, err := w.Store(fakeapi.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": fmt.Sprintf("c-%d", i%20_000), "namespace": "default"}, "data": map[string]any{"i": fmt.Sprint(i)}}); err != nil {
						return
					}
				}
			case <-stop:
				return
			}
		}
	}()
	began, at := w.Revision(), time.Now()
	p.call("Performance.enable", object{"timeDomain": "threadTicks"}, nil)
	busy := p.busy()
	fps := eval[float64](p, `new Promise((done) => {
		const began = performance.now();
		let n = 0;
		const frame = () => {
			n++;
			byId("events").scrollTop -= 7;
			redraw();
			const s = (performance.now() - began) / 1000;
			if (s > 8) done(n / s);
			else requestAnimationFrame(frame);
		};
		requestAnimationFrame(frame);
	})`)
	rate := float64(w.Revision()-began) / time.Since(at).Seconds()
	seen := eval[int64](p, `model.revision`)
	load, _ := os.ReadFile("/proc/loadavg") // none on other systems
	t.Logf("frames a second while following %.0f of 1,000 writes a second and scrolling: %.0f, with %.1f ms of the processor for each; the page is %d writes behind; load of the machine %s", rate, fps, 1000*(p.busy()-busy)/(8*fps), int64(w.Revision())-seen, load)
	close(stop)
	<-done
	t.Log("heap of the page, MB:", eval[float64](p, `performance.memory.usedJSHeapSize / 1e6`))
}

func median(of []time.Duration) time.Duration {
	slices.Sort(of)
	return of[len(of)/2]
}

// busy returns the seconds of the processor that the page has used.
func (p *tab) busy() (seconds float64) {
	p.t.Helper()
	var out struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	p.call("Performance.getMetrics", nil, &out)
	for _, m := range out.Metrics {
		if m.Name == "TaskDuration" {
			seconds = m.Value
		}
	}
	return seconds
}
