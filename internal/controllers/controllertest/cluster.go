package controllertest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

// A Cluster is a server of Start with methods that fail its test.
type Cluster struct {
	*fakeapi.Server
	t testing.TB
}

// StartCluster returns a Cluster on which the controllers run.
func StartCluster(t testing.TB, controllers string, options ...fakeapi.Option) Cluster {
	t.Helper()
	return Cluster{Start(t, controllers, options...), t}
}

// Put puts objects in YAML into the server, without admission.
func (c Cluster) Put(yaml string) {
	c.t.Helper()
	Put(c.t, c.Server, yaml)
}

// Create makes a POST request with each object in YAML. path is that of the collection,
// such as /api/v1/namespaces/default/pods.
func (c Cluster) Create(path, yaml string) {
	c.t.Helper()
	for _, doc := range strings.Split(yaml, "\n---\n") {
		req, err := http.NewRequest(http.MethodPost, c.URL+path, strings.NewReader(doc))
		require.NoError(c.t, err)
		req.Header.Set("Content-Type", "application/yaml")
		resp, err := c.Client().Do(req)
		require.NoError(c.t, err)
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(c.t, err)
		require.Less(c.t, resp.StatusCode, 300, "POST %s: %s", path, answer)
	}
}

// MergePatch makes a request with a JSON merge patch.
func (c Cluster) MergePatch(path, patch string) {
	c.t.Helper()
	Do(c.t, c.Server, http.MethodPatch, path, patch)
}

// Delete makes a DELETE request.
func (c Cluster) Delete(path string) {
	c.t.Helper()
	Do(c.t, c.Server, http.MethodDelete, path, "")
}

// Settle runs the controllers until nothing is left to do, and moves the clock ahead
// by at most d.
func (c Cluster) Settle(d time.Duration) {
	c.t.Helper()
	SettleWithin(c.t, c.Server, d)
}

// Wait runs the controllers for a time of the clock.
func (c Cluster) Wait(d time.Duration) {
	c.t.Helper()
	Wait(c.t, c.Server, d)
}

// Get returns an object of a resource, nil if it does not exist.
func (c Cluster) Get(resource, namespace, name string) map[string]any {
	c.t.Helper()
	o, err := c.Server.Get(resource, namespace, name)
	if err != nil {
		require.ErrorIs(c.t, err, fakeapi.ErrNotFound)
		return nil
	}
	return o
}

// Pod returns a Pod of the namespace default, nil if it does not exist.
func (c Cluster) Pod(name string) map[string]any {
	c.t.Helper()
	return c.Get("pods", "default", name)
}

// Condition returns a condition of an object as "STATUS REASON MESSAGE", "" if it has
// none.
func Condition(obj map[string]any, typ string) string {
	for c := range object.Each(object.Value(obj, "status", "conditions")) {
		if object.String(c, "type") == typ {
			return strings.TrimSpace(object.String(c, "status") + " " + object.String(c, "reason") + " " + object.String(c, "message"))
		}
	}
	return ""
}

// Events returns the Events about objects of a name, sorted by their names, as
// "REASON: MESSAGE".
func (c Cluster) Events(name string) (out []string) {
	c.t.Helper()
	events, err := c.List("events.", "")
	require.NoError(c.t, err)
	for _, e := range events {
		if object.String(e, "involvedObject", "name") == name {
			out = append(out, object.String(e, "reason")+": "+object.String(e, "message"))
		}
	}
	return out
}
