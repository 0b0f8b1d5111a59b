package paging_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"

	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/examples/paging"
	"github.com/kubefake/kubefake/fakeapi"
)

// After the client has read two of three pages, a Pod is deleted, and the server compacts
// the version of the pages.
func controllerTest(startOver bool) rig.Test {
	return func(t testing.TB, srv *fakeapi.Server) {
		for i := range 25 {
			put(t, srv, fmt.Sprintf("pod-%02d", i))
		}
		config := rig.Config(srv, "inventory")
		config.Transport = &interruption{next: config.Transport, after: 2, do: func() {
			require.NoError(t, srv.Remove("pods", "default", "pod-03"))
			srv.Compact(0)
		}}
		inventory := &paging.Inventory{
			Client: kubernetes.NewForConfigOrDie(config), Namespace: "default", PageSize: 10, StartOver: startOver,
		}
		require.NoError(t, inventory.Take(context.Background()))

		assert.Len(t, inventory.Names, 24, "Pods in the inventory")
		assert.False(t, inventory.Names.Has("pod-03"), "the deleted Pod is in the inventory")
	}
}

func TestFixed(t *testing.T) { rig.Passes(t, controllerTest(true)) }

func TestBuggy(t *testing.T) { rig.Fails(t, "Pods in the inventory", controllerTest(false)) }

// An interruption is a transport that calls a function after a number of requests.
type interruption struct {
	next  http.RoundTripper
	after int
	do    func()
}

func (i *interruption) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := i.next.RoundTrip(r)
	if i.after--; i.after == 0 {
		i.do()
	}
	return response, err
}

func put(t testing.TB, srv *fakeapi.Server, name string) {
	_, err := srv.Store(pod(name))
	require.NoError(t, err)
}

func pod(name string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"namespace": "default", "name": name},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "app", "image": "app:1"}}},
	}
}
