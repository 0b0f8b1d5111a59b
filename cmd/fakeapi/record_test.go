package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/scenarios"
)

const aConfigMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"key":"hunter2"}}`

// finish ends a recording and returns its scenario.
func (s *server) finish(t *testing.T, file string) *scenarios.Scenario {
	t.Helper()
	s.cancel()
	require.Equal(t, 0, <-s.code)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "hunter2")
	f, err := scenarios.Parse(file, text)
	require.NoError(t, err)
	require.Len(t, f.Scenarios, 1)
	return f.Scenarios[0]
}

// The traffic is recorded with the injected faults. The proxy uses the user of the
// kubeconfig, whatever user the client is.
func TestRecordTraffic(t *testing.T) {
	dir := t.TempDir()
	real, proxied, out := filepath.Join(dir, "real"), filepath.Join(dir, "proxied"), filepath.Join(dir, "monday.yaml")
	faults := filepath.Join(dir, "faults.yaml")
	require.NoError(t, os.WriteFile(faults, []byte("- {verb: delete, resource: configmaps, times: 1, code: 503}\n"), 0o600))
	start(t, "--tls", "--kubeconfig", real, "--token-auth-file", "testdata/tokens.csv", "--authorization-mode", "RBAC")
	s := startCommand(t, "record", "--kubeconfig", real, "--proxy-kubeconfig", proxied, "--out", out,
		"--secret", "configmaps:data.key", "--faults", faults)

	code, _ := s.do(t, "POST", "/api/v1/namespaces/default/configmaps", "of-nobody", aConfigMap)
	assert.Equal(t, http.StatusCreated, code)
	code, _ = s.do(t, "DELETE", "/api/v1/namespaces/default/configmaps/a", "", "")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	code, _ = s.do(t, "DELETE", "/api/v1/namespaces/default/configmaps/a", "", "")
	assert.Equal(t, http.StatusOK, code)

	got := s.finish(t, out)
	assert.Equal(t, "monday", got.Name)
	var codes []int
	for _, st := range got.Steps {
		codes = append(codes, st.Want.Status)
	}
	assert.Equal(t, []int{201, 503, 200}, codes)
	config, err := os.ReadFile(proxied)
	require.NoError(t, err)
	assert.Contains(t, string(config), s.url)
}

// Changes of objects are recorded and can be reenacted at another server.
func TestRecordState(t *testing.T) {
	dir := t.TempDir()
	config, out := filepath.Join(dir, "config"), filepath.Join(dir, "state.yaml")
	real := start(t, "--kubeconfig", config)
	code, _ := real.do(t, "POST", "/api/v1/namespaces/default/configmaps", "", aConfigMap)
	require.Equal(t, http.StatusCreated, code)
	s := startCommand(t, "record", "--kubeconfig", config, "--state", "configmaps", "--namespace", "default", "--secret", "configmaps:data.key", "--out", out)
	s.finish(t, out)

	other := start(t, "--reenact", out, "--speed", "100")
	code, got := other.do(t, "GET", "/api/v1/namespaces/default/configmaps/a", "", "")
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, map[string]any{"key": "scrubbed-1"}, got["data"])
}

// The proxy answers 502 if the server is unreachable.
func TestRecordWithoutServer(t *testing.T) {
	dir := t.TempDir()
	config, out := filepath.Join(dir, "config"), filepath.Join(dir, "out.yaml")
	stopped := start(t, "--kubeconfig", config)
	stopped.cancel()
	require.Equal(t, 0, <-stopped.code)
	s := startCommand(t, "record", "--kubeconfig", config, "--out", out)
	code, _ := s.do(t, "GET", "/api", "", "")
	assert.Equal(t, http.StatusBadGateway, code)
	got := s.finish(t, out)
	assert.Equal(t, http.StatusBadGateway, got.Steps[0].Want.Status)
}
