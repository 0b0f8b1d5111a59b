//go:build go1.24

package fakeapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
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
