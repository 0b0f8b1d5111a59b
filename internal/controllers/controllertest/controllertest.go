// Package controllertest has what tests of controllers share: a server on a manual
// clock, and requests as kubectl makes them.
package controllertest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// StartTime is the time at which the clocks of servers of Start begin.
var StartTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Start starts a server with RBAC, a seed and a manual clock, on which the controllers
// run.
func Start(t testing.TB, controllers string, options ...fakeapi.Option) *fakeapi.Server {
	t.Helper()
	return fakeapi.Start(t, append([]fakeapi.Option{
		fakeapi.WithControllers(controllers), fakeapi.WithManualClock(StartTime), fakeapi.WithSeed(1), fakeapi.WithRBAC(),
	}, options...)...)
}

// Do makes a request as an administrator and returns the object of the answer. body is
// JSON or "". The test fails if the request does.
func Do(t testing.TB, srv *fakeapi.Server, method, path, body string) fakeapi.Object {
	t.Helper()
	code, obj := Try(t, srv, method, path, body)
	require.Less(t, code, 300, "%s %s: %v", method, path, obj["message"])
	return obj
}

// Try is Do of a request that may fail. It returns the status code too.
func Try(t testing.TB, srv *fakeapi.Server, method, path, body string) (int, fakeapi.Object) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, srv.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var obj fakeapi.Object
	require.NoError(t, json.Unmarshal(data, &obj), "%s", data)
	return resp.StatusCode, obj
}

// Delete deletes the object of a path with a propagation policy: "" is the default of
// the resource.
func Delete(t testing.TB, srv *fakeapi.Server, path, propagation string) {
	t.Helper()
	body := ""
	if propagation != "" {
		body = `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"` + propagation + `"}`
	}
	Do(t, srv, http.MethodDelete, path, body)
}

// Put puts objects, in YAML, into the server.
func Put(t testing.TB, srv *fakeapi.Server, yaml ...string) {
	t.Helper()
	for _, y := range yaml {
		for _, doc := range strings.Split(y, "\n---\n") {
			_, err := srv.Store(doc)
			require.NoError(t, err, "%s", doc)
		}
	}
}

// Settle runs the controllers until they have nothing left to do now.
func Settle(t testing.TB, srv *fakeapi.Server) {
	t.Helper()
	require.NoError(t, srv.Settle(context.Background()))
}

// SettleWithin is Settle, and moves the clock up to d ahead.
func SettleWithin(t testing.TB, srv *fakeapi.Server, d time.Duration) {
	t.Helper()
	require.NoError(t, srv.Settle(context.Background(), fakeapi.SettleOptions{Ahead: d}))
}

// Wait runs the controllers for a time of the clock.
func Wait(t testing.TB, srv *fakeapi.Server, d time.Duration) {
	t.Helper()
	require.NoError(t, srv.Clock().Advance(d))
	Settle(t, srv)
}

// Names returns the names of the objects of a resource, with those of their namespaces
// if they have any: "default/web".
func Names(t testing.TB, srv *fakeapi.Server, resource string, options ...fakeapi.ReadOption) []string {
	t.Helper()
	objects, err := srv.List(resource, "", options...)
	require.NoError(t, err)
	out := []string{}
	for _, o := range objects {
		name := o.Name()
		if ns := o.Namespace(); ns != "" {
			name = ns + "/" + name
		}
		out = append(out, name)
	}
	return out
}

// Field returns the value at a path of an object, which is a name, or the type of a
// condition.
func Field(o fakeapi.Object, path ...string) any {
	var v any = map[string]any(o)
	for _, name := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			v = nil
			for _, e := range x {
				if m, ok := e.(map[string]any); ok && m["type"] == name {
					v = m
				}
			}
		default:
			return nil
		}
	}
	return v
}
