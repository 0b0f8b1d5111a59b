//go:build go1.25

package scenarios_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/scenarios"
)

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

func configMap(namespace, name, value string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"data":     map[string]any{"value": value},
	}
}

func put(t *testing.T, srv *fakeapi.Server, objects ...any) {
	t.Helper()
	for _, o := range objects {
		_, err := srv.Store(o)
		require.NoError(t, err)
	}
}

// format returns the history, one line per change.
func format(s *scenarios.Scenario) string {
	var b strings.Builder
	for _, c := range s.History {
		b.WriteString(c.At.String() + " " + c.String() + "\n")
	}
	return b.String()
}

func TestRecordState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		put(t, srv, widgets, configMap("default", "a", "1"), configMap("kube-system", "other", "1"),
			`{apiVersion: example.com/v1, kind: Widget, metadata: {namespace: default, name: w}}`)
		r, err := scenarios.RecordState(t.Context(), scenarios.StateOptions{
			URL: srv.URL, Transport: srv.Transport(),
			Resources: []string{"cm", "widgets.example.com", "Secret"}, Namespace: "default",
			Secrets: []scenarios.Secret{{Resource: "configmaps", Path: "data.password"}},
		})
		require.NoError(t, err)
		time.Sleep(1200 * time.Millisecond)
		b := configMap("default", "b", "1")
		b["data"].(map[string]any)["password"] = "hunter2!"
		put(t, srv, b, configMap("kube-system", "other", "2"))
		time.Sleep(time.Second)
		put(t, srv, configMap("default", "a", "2"))
		require.NoError(t, srv.Remove("widgets.example.com", "default", "w"))
		put(t, srv, `{apiVersion: v1, kind: Secret, metadata: {namespace: default, name: s}, data: {k: aHVudGVyMiE=}}`)
		synctest.Wait()
		s, err := r.Stop()
		require.NoError(t, err)

		assert.Equal(t, strings.TrimSpace(`
0s store CustomResourceDefinition widgets.example.com, Namespace default
0s store ConfigMap default/a, Widget default/w
1.2s store ConfigMap default/b
2.2s store ConfigMap default/a
2.2s remove Widget default/w
2.2s store Secret default/s`), strings.TrimSpace(format(s)))
		meta := s.History[2].Store[0]["metadata"].(map[string]any)
		assert.NotEmpty(t, meta["uid"])
		assert.NotContains(t, meta, "resourceVersion")

		text, err := scenarios.Format(s)
		require.NoError(t, err)
		assert.NotContains(t, string(text), "hunter2!")
		assert.NotContains(t, string(text), "aHVudGVyMiE=")
		again, err := scenarios.Parse("again", text)
		require.NoError(t, err)
		assert.Equal(t, format(s), format(again.Scenarios[0]))
	})
}

// A recording ends with the final state even if its watches break and expire.
func TestRecordStateAfterBrokenWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		put(t, srv, configMap("default", "gone", "1"), configMap("default", "kept", "1"), configMap("default", "same", "1"))
		wire := &breaker{next: srv.Transport()}
		r, err := scenarios.RecordState(t.Context(), scenarios.StateOptions{URL: srv.URL, Transport: wire, Resources: []string{"configmaps"}, Namespace: "default"})
		require.NoError(t, err)
		synctest.Wait()
		wire.cut()
		require.NoError(t, srv.Remove("configmaps", "default", "gone"))
		put(t, srv, configMap("default", "kept", "2"), configMap("default", "new", "1"))
		srv.Compact(0)
		time.Sleep(10 * time.Second)
		s, err := r.Stop()
		require.NoError(t, err)

		state := map[string]string{}
		for _, c := range s.History {
			for _, o := range c.Store {
				data, _ := o["data"].(map[string]any)
				value, _ := data["value"].(string)
				state[o["metadata"].(map[string]any)["name"].(string)] = value
			}
			for _, o := range c.Remove {
				delete(state, o["metadata"].(map[string]any)["name"].(string))
			}
		}
		delete(state, "default") // the namespace
		assert.Equal(t, map[string]string{"kept": "2", "new": "1", "same": "1"}, state)
		assert.NotContains(t, format(&scenarios.Scenario{History: s.History[2:]}), "same", "objects that did not change")
	})
}

// A breaker can close the watches that it has opened.
type breaker struct {
	next http.RoundTripper
	open []*http.Response
}

func (b *breaker) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil && r.URL.Query().Has("watch") {
		b.open = append(b.open, resp)
	}
	return resp, err
}

func (b *breaker) cut() {
	for _, resp := range b.open {
		resp.Body.Close()
	}
}

// An unavailable API group does not prevent recording resources of other groups.
func TestRecordStateWithUnavailableGroup(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithFaults(faults.Fault{Path: "/apis/apps/v1", Code: http.StatusServiceUnavailable}))
	record := func(resource string) error {
		r, err := scenarios.RecordState(t.Context(), scenarios.StateOptions{URL: srv.URL, Transport: srv.Transport(), Resources: []string{resource}})
		if err == nil {
			_, err = r.Stop()
		}
		return err
	}
	assert.NoError(t, record("leases"))
	assert.ErrorContains(t, record("deployments"), "GET /apis/apps/v1: 503")
}

func TestRecordStateErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, row := range []struct {
		name      string
		resources []string
		want      string
	}{
		{"unknown resource", []string{"pods", "gadgets"}, "gadgets"},
		{"not in the group", []string{"pods.apps"}, "pods.apps"},
		{"cannot be listed", []string{"tokenreviews"}, "tokenreviews"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := scenarios.RecordState(t.Context(), scenarios.StateOptions{URL: srv.URL, Transport: srv.Transport(), Resources: row.resources})
			assert.EqualError(t, err, "the server has no such resource that can be listed and watched: "+row.want)
			assert.ErrorIs(t, err, scenarios.ErrUnknownResource)
		})
	}
}
