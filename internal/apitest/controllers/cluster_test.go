package controllers_test

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
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/object"
)

// startTime is the time at which the clocks of clusters begin.
var startTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// A cluster is a server with methods that fail its test.
type cluster struct {
	*fakeapi.Server
	t testing.TB
}

// startCluster starts a server with RBAC, a seed and a manual clock, on which the controllers
// run.
func startCluster(t testing.TB, controllers string, options ...fakeapi.Option) cluster {
	t.Helper()
	return cluster{fakeapi.Start(t, append([]fakeapi.Option{
		fakeapi.WithControllers(controllers), fakeapi.WithManualClock(startTime), fakeapi.WithSeed(1), fakeapi.WithRBAC(),
	}, options...)...), t}
}

// withGate is the option that turns a feature gate on or off.
func withGate(name string, on bool) fakeapi.Option {
	return fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{name: on}})
}

// fork returns a fork, which the caller closes.
func (c cluster) fork(t testing.TB) cluster {
	t.Helper()
	srv, err := c.NewFork()
	require.NoError(t, err)
	return cluster{srv, t}
}

// Put puts objects in YAML into the server, without admission.
func (c cluster) Put(yaml ...string) {
	c.t.Helper()
	for _, y := range yaml {
		for _, doc := range strings.Split(y, "\n---\n") {
			_, err := c.Store(doc)
			require.NoError(c.t, err, "%s", doc)
		}
	}
}

// Create makes a POST request with each object in YAML. path is that of the collection,
// such as /api/v1/namespaces/default/pods.
func (c cluster) Create(path, yaml string) {
	c.t.Helper()
	for _, doc := range strings.Split(yaml, "\n---\n") {
		code, answer := c.send(http.MethodPost, path, "application/yaml", doc)
		require.Less(c.t, code, 300, "POST %s: %v", path, answer["message"])
	}
}

// Do makes a request as an administrator and returns the object of the answer. body is
// JSON or "".
func (c cluster) Do(method, path, body string) fakeapi.Object {
	c.t.Helper()
	code, answer := c.Try(method, path, body)
	require.Less(c.t, code, 300, "%s %s: %v", method, path, answer["message"])
	return answer
}

// Try is Do of a request that may fail. It returns the status code too.
func (c cluster) Try(method, path, body string) (int, fakeapi.Object) {
	c.t.Helper()
	contentType := "application/json"
	if method == http.MethodPatch {
		contentType = "application/merge-patch+json"
	}
	return c.send(method, path, contentType, body)
}

func (c cluster) send(method, path, contentType, body string) (int, fakeapi.Object) {
	c.t.Helper()
	req, err := http.NewRequest(method, c.URL+path, strings.NewReader(body))
	require.NoError(c.t, err)
	req.Header.Set("Content-Type", contentType)
	resp, err := c.Client().Do(req)
	require.NoError(c.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	var answer fakeapi.Object
	require.NoError(c.t, json.Unmarshal(data, &answer), "%s", data)
	return resp.StatusCode, answer
}

// MergePatch makes a request with a JSON merge patch.
func (c cluster) MergePatch(path, patch string) {
	c.t.Helper()
	c.Do(http.MethodPatch, path, patch)
}

// Delete deletes an object with the propagation policy that is the default of its resource.
func (c cluster) Delete(path string) {
	c.t.Helper()
	c.Do(http.MethodDelete, path, "")
}

// DeleteWith is Delete with a propagation policy; "" is the default.
func (c cluster) DeleteWith(propagation, path string) {
	c.t.Helper()
	options := ""
	if propagation != "" {
		options = `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"` + propagation + `"}`
	}
	c.Do(http.MethodDelete, path, options)
}

// Settle runs the controllers until they have nothing left to do now.
func (c cluster) Settle() {
	c.t.Helper()
	c.SettleWithin(0)
}

// SettleWithin is Settle, and moves the clock ahead by at most d.
func (c cluster) SettleWithin(d time.Duration) {
	c.t.Helper()
	require.NoError(c.t, c.Server.Settle(context.Background(), fakeapi.SettleOptions{Ahead: d}))
}

// Wait moves the clock ahead by d. Controllers act at each time at which they have
// something to do.
func (c cluster) Wait(d time.Duration) {
	c.t.Helper()
	require.NoError(c.t, c.Clock().Advance(d))
	c.Settle()
}

// Get returns an object of a resource, nil if it does not exist.
func (c cluster) Get(resource, namespace, name string) fakeapi.Object {
	c.t.Helper()
	o, err := c.Server.Get(resource, namespace, name)
	if err != nil {
		require.ErrorIs(c.t, err, fakeapi.ErrNotFound)
		return nil
	}
	return o
}

// Pod returns a Pod of the namespace default, nil if it does not exist.
func (c cluster) Pod(name string) fakeapi.Object {
	c.t.Helper()
	return c.Get("pods", "default", name)
}

// List returns the objects of a resource, of all namespaces if namespace is "".
func (c cluster) List(resource, namespace string) []fakeapi.Object {
	c.t.Helper()
	objects, err := c.Server.List(resource, namespace)
	require.NoError(c.t, err)
	return objects
}

// Names returns the names of the objects of a resource, with those of their namespaces
// if they have any: "default/web".
func (c cluster) Names(resource string) []string {
	c.t.Helper()
	out := []string{}
	for _, o := range c.List(resource, "") {
		out = append(out, strings.TrimPrefix(o.Namespace()+"/"+o.Name(), "/"))
	}
	return out
}

// Events returns the Events about objects of a name, sorted by their names, as
// "REASON: MESSAGE".
func (c cluster) Events(name string) (out []string) {
	c.t.Helper()
	for _, e := range c.List("events.", "") {
		if object.String(e, "involvedObject", "name") == name {
			out = append(out, object.String(e, "reason")+": "+object.String(e, "message"))
		}
	}
	return out
}

// conditionOf returns the condition of a type, nil if an object has none.
func conditionOf(obj map[string]any, typ string) map[string]any {
	for c := range object.Each(object.Value(obj, "status", "conditions")) {
		if object.String(c, "type") == typ {
			return c
		}
	}
	return nil
}

// condition returns the condition of a type as "STATUS REASON MESSAGE", "" if an object
// has none.
func condition(obj map[string]any, typ string) string {
	c := conditionOf(obj, typ)
	return strings.TrimSpace(object.String(c, "status") + " " + object.String(c, "reason") + " " + object.String(c, "message"))
}
