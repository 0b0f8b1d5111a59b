//go:build go1.24

package apitest

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// ConfigMap returns a ConfigMap in the namespace default.
func ConfigMap(name, value string) fakeapi.Object {
	return fakeapi.Object{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   map[string]any{"name": name, "namespace": "default"},
		"data":       map[string]any{"key": value},
	}
}

// Put stores valid objects.
func Put(t testing.TB, srv *fakeapi.Server, objects ...fakeapi.Object) {
	t.Helper()
	for _, o := range objects {
		_, err := srv.Store(o)
		require.NoError(t, err)
	}
}

// Paths in the namespace default. The name of a Pod follows PodsPath.
const (
	ConfigMapsPath = "/api/v1/namespaces/default/configmaps"
	PodsPath       = "/api/v1/namespaces/default/pods/"
)

// RunPod creates a Pod on a node, with the given status of the condition Ready.
func RunPod(t testing.TB, srv *fakeapi.Server, name, ready string) {
	t.Helper()
	Put(t, srv, fakeapi.Object{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": name, "namespace": "default", "labels": map[string]any{"app": "web"}},
		"spec":     map[string]any{"nodeName": "n", "containers": []any{map[string]any{"name": "c", "image": "i"}}},
	})
	code, _ := Do(t, srv, "PUT", PodsPath+name+"/status", fmt.Sprintf(
		`{"metadata":{"name":%q,"labels":{"app":"web"}},"status":{"phase":"Running","conditions":[{"type":"Ready","status":%q}]}}`, name, ready))
	require.Equal(t, http.StatusOK, code)
}
