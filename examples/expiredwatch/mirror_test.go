package expiredwatch_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"

	"github.com/kubefake/kubefake/examples/expiredwatch"
	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
)

// The watch ends. Before the mirror watches again, the ConfigMap changes and the server
// compacts its history.
func controllerTest(relist bool) rig.Test {
	return func(t testing.TB, srv *fakeapi.Server) {
		put(t, srv, "before")
		m := &expiredwatch.Mirror{Client: kubernetes.NewForConfigOrDie(rig.Config(srv, "mirror")), Namespace: "default", Relist: relist}
		run(t, m)
		require.Equal(t, "before", m.Data("settings")["color"])

		_, err := srv.Inject(faults.DropWatches("configmaps"))
		require.NoError(t, err)
		put(t, srv, "between")
		put(t, srv, "after")
		srv.Compact(0)

		time.Sleep(time.Minute)
		assert.Equal(t, "after", m.Data("settings")["color"], "the color a minute later")
	}
}

func TestFixed(t *testing.T) { rig.Passes(t, controllerTest(true)) }

func TestBuggy(t *testing.T) { rig.Fails(t, "the color a minute later", controllerTest(false)) }

// run runs a mirror until the test ends. It returns when the mirror waits for changes.
func run(t testing.TB, m *expiredwatch.Mirror) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = m.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	synctest.Wait()
}

func put(t testing.TB, srv *fakeapi.Server, color string) {
	_, err := srv.Store(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": "default", "name": "settings"},
		"data":     map[string]any{"color": color},
	})
	require.NoError(t, err)
}
