package storypage

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
)

const deployments = "/apis/apps/v1/namespaces/default/deployments"

// A world is a test with a server.
type world struct {
	*testing.T
	*fakeapi.Server
}

func start(t *testing.T) world {
	return world{t, fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)))}
}

// as makes a request with a user agent.
func (w world) as(agent, method, path, body string) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), method, w.URL+path, strings.NewReader(body))
	require.NoError(w, err)
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Content-Type", map[string]string{"PATCH": "application/merge-patch+json"}[method])
	if method != "PATCH" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := w.Client().Do(req)
	require.NoError(w, err)
	resp.Body.Close()
}

// watch opens a watch from the current revision. next waits for an event.
func (w world) watch(agent, path string) (next func()) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), "GET", fmt.Sprintf("%s%s?watch=1&resourceVersion=%d", w.URL, path, w.Revision()), nil)
	require.NoError(w, err)
	req.Header.Set("User-Agent", agent)
	resp, err := w.Client().Do(req)
	require.NoError(w, err)
	w.Cleanup(func() { resp.Body.Close() })
	in := bufio.NewReader(resp.Body)
	return func() {
		w.Helper()
		_, err := in.ReadString('\n')
		require.NoError(w, err)
	}
}

// incident returns a server whose story has three writers, a watcher that has seen all
// events and one that lags at the end, a conflict, a fault, a stale read, an advanced clock
// and a compaction. It also has text that must be escaped in HTML.
func incident(t *testing.T) *fakeapi.Server {
	w := start(t)
	seen := w.watch("manager/v1", "/apis/apps/v1/deployments")
	w.as("kubectl/v1.36.0", "POST", deployments+"?fieldManager=kubectl-create", `{"metadata":{"name":"shop"},"spec":{"replicas":1,
		"selector":{"matchLabels":{"app":"shop"}},"template":{"metadata":{"labels":{"app":"shop"}},"spec":{"containers":[{"name":"app","image":"app:v1"}]}}}}`)
	seen()
	w.as("scaler/v1", "PATCH", deployments+"/shop", `{"spec":{"replicas":5}}`)
	seen()
	w.watch("dashboard/v1", "/api/v1/configmaps")
	require.NoError(t, w.SetLag("configmaps", fakeapi.Lag{Frozen: true}))
	_, err := w.Store(fakeapi.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings", "namespace": "default"},
		"data": map[string]any{"html": "</script><img src=x onerror=boom()>", "lines": "one\ntwo"}})
	require.NoError(t, err)
	w.as("dashboard/v1", "GET", "/api/v1/configmaps?resourceVersion=0", "")
	w.as("kubectl/v1.36.0", "PUT", deployments+"/shop", `{"metadata":{"name":"shop","resourceVersion":"1"}}`)
	_, err = w.Inject(faults.ConflictOnce("deployments"))
	require.NoError(t, err)
	w.as("scaler/v1", "PATCH", deployments+"/shop", `{"spec":{"replicas":6}}`)
	w.as("kubectl/v1.36.0", "GET", deployments+"/shop", "")
	w.Clock().Advance(90 * time.Second)
	w.Compact(0)
	w.as("kubectl/v1.36.0", "DELETE", deployments+"/shop", "")
	seen()
	return w.Server
}

// page writes the page of a server's story to a file and returns its name.
func page(t *testing.T, srv *fakeapi.Server) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "story.html")
	f, err := os.Create(name)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, srv.WriteStory(f))
	return name
}
