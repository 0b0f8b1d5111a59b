//go:build go1.24

package fakeapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
)

// A recorder is a TB that records its calls.
type recorder struct {
	failed   bool
	fatal    string // the message of the first Fatalf
	log      strings.Builder
	cleanups []func()
}

func (r *recorder) Helper()                    {}
func (r *recorder) Cleanup(f func())           { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Failed() bool               { return r.failed }
func (r *recorder) Logf(f string, args ...any) { fmt.Fprintf(&r.log, f+"\n", args...) }
func (r *recorder) Fatalf(f string, args ...any) {
	if r.fatal == "" {
		r.fatal = fmt.Sprintf(f, args...)
	}
	r.failed = true
}

// end ends the test: it runs the cleanups.
func (r *recorder) end() {
	for len(r.cleanups) > 0 {
		last := r.cleanups[len(r.cleanups)-1]
		r.cleanups = r.cleanups[:len(r.cleanups)-1]
		last()
	}
}

var _ fakeapi.TB = (*recorder)(nil)

// configMap returns a ConfigMap in the namespace default.
func configMap(name, value string) fakeapi.Object {
	return fakeapi.Object{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   map[string]any{"name": name, "namespace": "default"},
		"data":       map[string]any{"key": value},
	}
}

// put puts valid objects.
func put(t testing.TB, srv *fakeapi.Server, objects ...fakeapi.Object) {
	t.Helper()
	for _, o := range objects {
		_, err := srv.Store(o)
		require.NoError(t, err)
	}
}

// replicaOf starts a replica of a server.
func replicaOf(t testing.TB, srv *fakeapi.Server) *fakeapi.Server {
	t.Helper()
	r, err := srv.NewReplica()
	require.NoError(t, err)
	return r
}

// inject injects valid faults.
func inject(t testing.TB, srv *fakeapi.Server, faults ...faults.Fault) *faults.Injection {
	t.Helper()
	i, err := srv.Inject(faults...)
	require.NoError(t, err)
	return i
}

// values returns the values of the ConfigMaps in the namespace default, by name.
func values(t testing.TB, srv *fakeapi.Server, options ...fakeapi.ReadOption) map[string]any {
	t.Helper()
	out, err := read(srv, options...)
	require.NoError(t, err)
	return out
}

// contents is values for examples.
func contents(srv *fakeapi.Server) map[string]any {
	out, err := read(srv)
	if err != nil {
		panic(err)
	}
	return out
}

func read(srv *fakeapi.Server, options ...fakeapi.ReadOption) (map[string]any, error) {
	objects, err := srv.List("configmaps", "default", options...)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, o := range objects {
		out[o.Name()] = o["data"].(map[string]any)["key"]
	}
	return out, nil
}

// do makes a request with a JSON body, a merge patch for PATCH, and returns the
// status code and the decoded body.
func do(t testing.TB, srv *fakeapi.Server, method, path, body string) (int, fakeapi.Object) {
	t.Helper()
	return doWith(t, srv.Client(), method, srv.URL+path, body)
}

func doWith(t testing.TB, client *http.Client, method, url, body string) (int, fakeapi.Object) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	switch {
	case method == http.MethodPatch:
		req.Header.Set("Content-Type", "application/merge-patch+json")
	case body != "":
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	return resp.StatusCode, answer(t, resp)
}

// answer decodes the body of a response; nil if it is not JSON.
func answer(t testing.TB, resp *http.Response) fakeapi.Object {
	t.Helper()
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var out fakeapi.Object
	_ = json.Unmarshal(b, &out)
	return out
}

// A stream is the response to a watch.
type stream struct {
	t    testing.TB
	body io.ReadCloser
	in   *bufio.Reader
}

type event struct {
	Type   string
	Object fakeapi.Object
}

// watch opens a watch of ConfigMaps and closes it when the test ends.
func watch(t testing.TB, srv *fakeapi.Server, query string) *stream {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/api/v1/configmaps?watch=1&"+query, nil)
	require.NoError(t, err)
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { resp.Body.Close() })
	require.Equal(t, http.StatusOK, resp.StatusCode)
	return &stream{t, resp.Body, bufio.NewReader(resp.Body)}
}

// next waits for an event. It reports false at the end of the stream.
func (s *stream) next() (event, bool) {
	s.t.Helper()
	line, err := s.in.ReadBytes('\n')
	if err == io.EOF && len(line) == 0 {
		return event{}, false
	}
	require.NoError(s.t, err)
	var e event
	require.NoError(s.t, json.Unmarshal(line, &e))
	return e, true
}

// expect waits for an event of a type.
func (s *stream) expect(kind string) fakeapi.Object {
	s.t.Helper()
	e, ok := s.next()
	require.True(s.t, ok, "the stream has ended")
	require.Equal(s.t, kind, e.Type, "%v", e.Object)
	return e.Object
}

// eventually waits until a condition is true.
func eventually(condition func() bool) {
	for !condition() {
		runtime.Gosched()
	}
}
