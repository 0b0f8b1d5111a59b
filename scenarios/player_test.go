//go:build go1.25

package scenarios

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// fakeTB is a TB that records failures.
type fakeTB struct {
	failures []string
	cleanups []func()
}

func (r *fakeTB) Helper() {}

func (r *fakeTB) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

// end runs the cleanups.
func (r *fakeTB) end() {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
}

func (r *fakeTB) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *fakeTB) Fatalf(format string, args ...any) { r.Errorf("fatal: "+format, args...) }

func TestPlayReportsDifferences(t *testing.T) {
	srv := fakeapi.Start(t)
	var r fakeTB
	Play(&r, srv, "testdata/wrong.yaml")
	assert.Equal(t, []string{`testdata/wrong.yaml: demo/wrong
  testdata/wrong.yaml:5: step 0 (POST /api/v1/namespaces/${ns}/configmaps)
    status: want 200, got 201 {"apiVersion":"v1","data":{"a":"b"},"kind":"ConfigMap","metadata.namespace":"${ns}"}
    sent POST /api/v1/namespaces/${ns}/configmaps
         {"apiVersion":"v1","data":{"a":"b"},"kind":"ConfigMap","metadata":{"name":"a"}}
  testdata/wrong.yaml:10: step 2 (the read)
    body.data.a: want "c", got "b"
    body.data.d: missing, want "e"
    sent GET /api/v1/namespaces/${ns}/configmaps/a
  testdata/wrong.yaml:19: step 4 (events of w)
    events: want 2 items, got 1
    events[0].type: want "DELETED", got "ADDED"`}, r.failures)

	r = fakeTB{}
	Play(&r, srv, "testdata/none.yaml")
	assert.Equal(t, []string{"fatal: testdata/none.yaml: no such file or directory"}, r.failures)
}

func TestPlayerWithoutNamespaces(t *testing.T) {
	refused := httptest.NewServer(http.NotFoundHandler())
	defer refused.Close()
	p := &Player{URL: refused.URL}
	r := p.Play(t.Context(), &Scenario{Name: "a"})
	assert.EqualError(t, r.Err, `creating a namespace: 404 "404 page not found\n"`)
	assert.True(t, r.Failed())
	assert.Equal(t, "a\n  creating a namespace: 404 \"404 page not found\\n\"", r.String())
}

// played are the files in testdata that are played against a server of their own.
var played = []string{"testdata/time.yaml", "testdata/trouble.yaml", "testdata/upgrade.yaml", "testdata/webhooks.yaml"}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestPlay(t *testing.T) {
	for _, file := range played {
		t.Run(file, func(t *testing.T) {
			Play(t, fakeapi.Start(t, fakeapi.WithManualClock(epoch)), file)
		})
	}
}

// askTwice sends each question for the clock twice.
type askTwice struct{ http.RoundTripper }

func (t askTwice) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet && req.URL.Path == "/debug/fakeapi/clock" {
		resp, err := t.RoundTripper.RoundTrip(req.Clone(req.Context()))
		if err != nil {
			return nil, err
		}
		resp.Body.Close()
	}
	return t.RoundTripper.RoundTrip(req)
}

// Two plays with the same seed have the same transcript, however often they ask
// whether the server waits for its clock.
func TestPlayIsDeterministic(t *testing.T) {
	for _, file := range played {
		f, err := Load(file)
		require.NoError(t, err)
		for _, s := range f.Scenarios {
			t.Run(s.String(), func(t *testing.T) {
				transcripts := make([]string, 2)
				for i := range transcripts {
					srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(epoch), fakeapi.WithSeed(7))
					var out strings.Builder
					transport := srv.Transport()
					if i == 1 {
						transport = askTwice{transport}
					}
					r := (&Player{URL: srv.URL, Transport: transport, Transcript: &out}).Play(t.Context(), s)
					require.False(t, r.Failed(), r)
					transcripts[i] = out.String()
				}
				assert.NotEmpty(t, transcripts[0])
				assert.Equal(t, transcripts[0], transcripts[1])
			})
		}
	}
}

// A clock that is not manual is waited for.
func TestPlayWaitsForRunningClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		s := &Scenario{
			Name: "a",
			History: []Change{
				{At: Duration(time.Second), Store: Objects{configMap("a")}},
				{At: Duration(2 * time.Second), Store: Objects{configMap("b")}},
				{At: Duration(time.Hour), Store: Objects{configMap("c")}},
			},
			Steps: []Step{
				{Watch: "/api/v1/namespaces/${ns}/configmaps?watch=1&resourceVersion=0", As: "w"},
				{Events: "w", Count: 1, Only: []string{"object.metadata.name"}, Want: &Answer{Events: []any{map[string]any{"object.metadata.name": "a"}}}},
				{Expect: &Expectation{Path: "/api/v1/namespaces/${ns}/configmaps/b"}, Want: &Answer{}},
				{Pause: Duration(time.Minute)},
				{Expect: &Expectation{Path: "/api/v1/namespaces/${ns}/configmaps/c"}, Within: Duration(time.Second), Want: &Answer{Status: 404}},
			},
		}
		started := time.Now()
		r := (&Player{URL: srv.URL, Transport: srv.Transport()}).Play(t.Context(), s)
		require.False(t, r.Failed(), r)
		assert.Equal(t, time.Hour, time.Since(started).Round(time.Second))
		_, err := srv.Get("configmaps", "s-"+hashName("a 0"), "c")
		assert.NoError(t, err)
	})
}

func configMap(name string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "${ns}", "name": name}}
}

// Each play creates its own namespace.
func TestPlayCreatesNamespaceAnew(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithManualClock(epoch))
	f, err := Load("testdata/time.yaml")
	require.NoError(t, err)
	p := &Player{URL: srv.URL, Transport: srv.Transport()}
	for range 3 {
		r := p.Play(t.Context(), f.Scenarios[1])
		require.False(t, r.Failed(), r)
	}
}

func TestExpectWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(epoch), fakeapi.WithObjects(map[string]any{
			"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "a"},
		}))
		client := time.AfterFunc(time.Second, func() {
			_, err := srv.Store(map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"unschedulable": true}})
			assert.NoError(t, err)
		})
		defer client.Stop()
		expect := Step{Expect: &Expectation{Path: "/api/v1/nodes/a"}, Capture: map[string]string{"uid": "metadata.uid"}, Want: &Answer{Body: map[string]any{"spec": map[string]any{"unschedulable": true}}}}
		tooShort := expect
		tooShort.Within = Duration(time.Millisecond)
		r := (&Player{URL: srv.URL, Transport: srv.Transport()}).Play(t.Context(), &Scenario{Name: "a", Steps: []Step{
			tooShort,
			expect,
			{Expect: &Expectation{Path: "/api/v1/nodes/a"}, Want: &Answer{Body: map[string]any{"metadata": map[string]any{"uid": "${uid}"}}}},
		}})
		require.NoError(t, r.Err)
		assert.Equal(t, []string{"body.spec.unschedulable: missing, want true"}, r.Steps[0].Diffs)
		assert.Empty(t, r.Steps[1].Diffs)
	})
}

// A step may be in another cluster.
func TestPlayInClusters(t *testing.T) {
	east, west := fakeapi.Start(t), fakeapi.Start(t)
	play := func(steps string) *Result {
		f, err := Parse("w.yaml", []byte("name: a\nsteps:\n"+steps))
		require.NoError(t, err)
		p := &Player{URL: east.URL, Clusters: map[string]Endpoint{"east": {URL: east.URL}, "west": {URL: west.URL}}}
		return p.Play(t.Context(), f.Scenarios[0])
	}
	r := play(`
- {in: west, create: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: a}}, capture: {uid: metadata.uid}}
- {in: west, create: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: "${ns}", name: a}}}
- {in: west, watch: "/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Da", as: w}
- {in: west, store: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: b}}}
- {events: w, count: 1}
- {do: "GET /api/v1/namespaces/default/configmaps?fieldSelector=metadata.uid%3D${uid}", only: [kind], want: {status: 400, body: {kind: Status}}}
- {in: east, do: GET /api/v1/namespaces/default/configmaps/a, only: [kind], want: {status: 404, body: {kind: Status}}}
- {do: GET /api/v1/namespaces/default/configmaps/b, only: [kind], want: {status: 404, body: {kind: Status}}}
`)
	assert.False(t, r.Failed(), "%s", r)
	assert.Equal(t, "west", r.Steps[0].Step.In)
	_, err := west.Get("configmaps", "default", "b")
	assert.NoError(t, err)

	r = play("- {in: north, do: GET /api}\n")
	assert.ErrorContains(t, r.Err, `in: "north" is not the name of a cluster that is played: east, west`)
}
