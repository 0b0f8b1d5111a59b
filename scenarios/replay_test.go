//go:build go1.24

package scenarios

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/httptest"
)

// requestLines sends a request and returns the status and the body. If lines is not
// 0, it returns only that many lines of the body, as of a watch.
func requestLines(t *testing.T, srv *httptest.Server, method, target, body string, lines int) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+target, strings.NewReader(body))
	require.NoError(t, err)
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	if lines == 0 {
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.Status + " " + strings.TrimSpace(string(b))
	}
	out := resp.Status
	r := bufio.NewReader(resp.Body)
	for range lines {
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		out += " " + strings.TrimSpace(line)
	}
	return out
}

func TestReplay(t *testing.T) {
	var r fakeTB
	srv := Replay(&r, "testdata/replay.yaml")
	assert.Equal(t, `200 OK {"items":[],"metadata":{"resourceVersion":"1"}}`, requestLines(t, srv, "GET", "/api/v1/nodes?limit=500", "", 0))
	assert.Equal(t, `201 Created {"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z","name":"a","uid":"00000000-0000-4000-8000-000000000001"}}`,
		requestLines(t, srv, "POST", "/api/v1/nodes", `{"metadata": {"name": "a"}}`, 0))
	assert.Equal(t, `200 OK {"object":{"metadata":{"name":"a","uid":"00000000-0000-4000-8000-000000000001"}},"type":"ADDED"} {"type":"BOOKMARK"}`,
		requestLines(t, srv, "GET", "/api/v1/nodes?resourceVersion=1&watch=1", "", 2))
	assert.Equal(t, `200 OK ok`, requestLines(t, srv, "GET", "/api/v1/nodes/a/00000000-0000-4000-8000-000000000001", "", 0))
	assert.Empty(t, r.failures)

	assert.Equal(t, `200 OK {"type":"LAST"}`, requestLines(t, srv, "GET", "/api/v1/nodes?resourceVersion=2&watch=1", "", 0), "the watch ends")
	r.end()
	assert.Equal(t, []string{`testdata/replay.yaml: request not made: step 9, DELETE /api/v1/nodes/a`}, r.failures)
}

func TestReplayUnexpected(t *testing.T) {
	for _, row := range []struct{ name, method, target, body, want string }{
		{"another query", "GET", "/api/v1/nodes?limit=100&watch=1", "", `unexpected request: GET /api/v1/nodes?limit=100&watch=1
  the most similar step is 0, GET /api/v1/nodes?limit=500
    query limit: want ["500"], got ["100"]
    query watch: unexpected, got ["1"]`},
		{"another body", "POST", "/api/v1/nodes", `{"metadata":{"name":"b"}}`, `unexpected request: POST /api/v1/nodes
  the most similar step is 1, POST /api/v1/nodes
    body.metadata.name: want "a", got "b"`},
		{"too early", "POST", "/api/v1/nodes", `{"metadata":{"name":"a"}}`, `unexpected request: POST /api/v1/nodes
  the most similar step is 1, POST /api/v1/nodes
    step 0, GET /api/v1/nodes?limit=500, must come before it`},
		{"another path", "DELETE", "/api/v1/nodes/b", "", `unexpected request: DELETE /api/v1/nodes/b
  the most similar step is 9, DELETE /api/v1/nodes/a
    path: want /api/v1/nodes/a, got /api/v1/nodes/b`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var r fakeTB
			srv := Replay(&r, "testdata/replay.yaml")
			t.Cleanup(srv.Close)
			answer := requestLines(t, srv, row.method, row.target, row.body, 0)
			assert.Contains(t, answer, "500 Internal Server Error")
			assert.Equal(t, []string{"testdata/replay.yaml: " + row.want}, r.failures)
		})
	}
}

func TestReplayConcurrent(t *testing.T) {
	f, err := Parse("a", []byte(`name: a
steps:
- {do: GET /a, want: {body: a1}}
- {do: GET /b, want: {body: b1}}
- {do: PUT /a, raw: x, want: {body: a2}}
- {do: PUT /c, raw: x, want: {body: c1}}
- {do: GET /a, want: {body: a3}}
`))
	require.NoError(t, err)
	for _, row := range []struct{ name, requests, answers string }{
		{"in order", "GET /a,GET /b,PUT /a,PUT /c,GET /a", "a1 b1 a2 c1 a3"},
		{"reads of other paths", "GET /b,GET /a,PUT /a,GET /a,PUT /c", "b1 a1 a2 a3 c1"},
		{"a read before a write of its path", "GET /a,GET /a", "a1 unexpected"},
		{"a write before a read of its path", "PUT /a", "unexpected"},
		{"a write before another", "GET /a,PUT /c", "a1 unexpected"},
		{"one too many", "GET /b,GET /b", "b1 unexpected"},
	} {
		t.Run(row.name, func(t *testing.T) {
			replayer, err := NewReplayer(f.Scenarios[0], func(string) {}, Concurrent())
			require.NoError(t, err)
			srv, err := httptest.Start(replayer, httptest.Options{InMemory: true})
			require.NoError(t, err)
			t.Cleanup(srv.Close)
			var answers []string
			for _, request := range strings.Split(row.requests, ",") {
				method, path, _ := strings.Cut(request, " ")
				body := ""
				if method == http.MethodPut {
					body = "x"
				}
				answer := requestLines(t, srv, method, path, body, 0)
				if strings.Contains(answer, "unexpected request") {
					answer = "200 OK unexpected"
				}
				answers = append(answers, strings.TrimPrefix(answer, "200 OK "))
			}
			assert.Equal(t, row.answers, strings.Join(answers, " "))
		})
	}
}

func TestNewReplayerErrors(t *testing.T) {
	for _, row := range []struct {
		name, want string
		step       Step
	}{
		{"no want", "the scenario cannot be replayed: step 0 (GET /a): it has no want", Step{Do: "GET /a"}},
		{"a part of the body", "the scenario cannot be replayed: step 0 (GET /a): its want has only a part of the answer", Step{Do: "GET /a", Only: []string{"a"}, Want: &Answer{}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := NewReplayer(&Scenario{Steps: []Step{row.step}}, nil)
			assert.EqualError(t, err, row.want)
			assert.ErrorIs(t, err, ErrNotReplayable)
		})
	}
	var r fakeTB
	assert.Nil(t, Replay(&r, "testdata/time.yaml"))
	assert.Equal(t, []string{"fatal: testdata/time.yaml: 2 scenarios instead of one"}, r.failures)
}

// Playing a scenario against its own replayer succeeds.
func TestReplayAnswersPlayer(t *testing.T) {
	played := 0
	for _, file := range []string{"testdata/session.yaml", "../conformance/testdata/corpus/patch.yaml", "../conformance/testdata/corpus/watch.yaml"} {
		f, err := Load(file)
		require.NoError(t, err)
		for _, s := range f.Scenarios {
			replayer, err := NewReplayer(s, func(problem string) { t.Errorf("%s: %s", s, problem) })
			if err != nil {
				continue // it has no complete answers
			}
			played++
			t.Run(s.String(), func(t *testing.T) { playAgainstReplayer(t, s, replayer) })
		}
	}
	assert.Greater(t, played, 30)
}

func playAgainstReplayer(t *testing.T, s *Scenario, replayer *Replayer) {
	var namespace sync.Once // the first request creates the namespace, which is no step
	h, err := httptest.Start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler := http.Handler(replayer)
		namespace.Do(func() {
			handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) })
		})
		handler.ServeHTTP(w, r)
	}), httptest.Options{InMemory: true})
	require.NoError(t, err)
	t.Cleanup(h.Close)
	exchanges := *s
	exchanges.Steps = nil
	for _, st := range s.Steps {
		if isExchange(&st) || st.Events != "" {
			st.At = 0
			exchanges.Steps = append(exchanges.Steps, st)
		}
	}
	r := (&Player{URL: h.URL, Transport: h.InMemory()}).Play(t.Context(), &exchanges)
	assert.False(t, r.Failed(), r)
	assert.Empty(t, replayer.Remaining())
}
