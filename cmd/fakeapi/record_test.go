//go:build go1.24

package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kubeconfig"
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

// startProxy runs record as a proxy in front of the server of a kubeconfig. It
// returns the command and a function that sends a request with the kubeconfig that
// the command has written.
func startProxy(t *testing.T, config, out string, args ...string) (*server, func(method, path, body string) int) {
	t.Helper()
	proxied := filepath.Join(t.TempDir(), "proxied")
	s := startCommand(t, append([]string{"record", "--kubeconfig", config, "--proxy-kubeconfig", proxied, "--out", out}, args...)...)
	info, err := os.Stat(proxied)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	return s, func(method, path, body string) int {
		t.Helper()
		cluster, err := kubeconfig.Load(t.Context(), proxied, "")
		require.NoError(t, err)
		assert.Equal(t, s.url, cluster.URL)
		req, err := http.NewRequestWithContext(t.Context(), method, cluster.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		resp, err := cluster.Transport.RoundTrip(req)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		return resp.StatusCode
	}
}

// The traffic is recorded with the injected faults. The proxy uses the user of the
// kubeconfig.
func TestRecordTraffic(t *testing.T) {
	dir := t.TempDir()
	real, out := filepath.Join(dir, "real"), filepath.Join(dir, "monday.yaml")
	faults := filepath.Join(dir, "faults.yaml")
	require.NoError(t, os.WriteFile(faults, []byte("- {verb: delete, resource: configmaps, times: 1, code: 503}\n"), 0o600))
	require.NoError(t, os.WriteFile(out, nil, 0o644))
	start(t, "--tls", "--kubeconfig", real, "--token-auth-file", "testdata/tokens.csv", "--authorization-mode", "RBAC")
	s, do := startProxy(t, real, out, "--secret", "configmaps:data.key", "--faults", faults)

	assert.Equal(t, http.StatusCreated, do("POST", "/api/v1/namespaces/default/configmaps", aConfigMap))
	assert.Equal(t, http.StatusServiceUnavailable, do("DELETE", "/api/v1/namespaces/default/configmaps/a", ""))
	assert.Equal(t, http.StatusOK, do("DELETE", "/api/v1/namespaces/default/configmaps/a", ""))

	got := s.finish(t, out)
	assert.Equal(t, "monday", got.Name)
	var codes []int
	for _, st := range got.Steps {
		codes = append(codes, st.Want.Status)
	}
	assert.Equal(t, []int{201, 503, 200}, codes)
	info, err := os.Stat(out)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode(), "also if the file existed")
	assert.Empty(t, partials(t, dir))
}

// partials returns the temporary files of recordings in a directory.
func partials(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.partial"))
	require.NoError(t, err)
	return names
}

// Only a client with the token can use the proxy, and no web page can.
func TestRecordRefusesClients(t *testing.T) {
	dir := t.TempDir()
	config, out := filepath.Join(dir, "config"), filepath.Join(dir, "out.yaml")
	start(t, "--kubeconfig", config)
	s, do := startProxy(t, config, out)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	for _, row := range []struct {
		name, method string
		header       map[string]string
		code         int
		reason       string
	}{
		{"no token", "GET", nil, 401, "Unauthorized"},
		{"wrong token", "GET", map[string]string{"Authorization": "Bearer x"}, 401, "Unauthorized"},
		{"password", "GET", map[string]string{"Authorization": "Basic dTpw"}, 401, "Unauthorized"},
		{"rebinding", "GET", map[string]string{"Host": "evil.example"}, 403, "Forbidden"},
		{"form", "POST", map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, 403, "Forbidden"},
		{"exec without a token", "GET", map[string]string{"Connection": "Upgrade", "Upgrade": "SPDY/3.1"}, 401, "Unauthorized"},
		{"exec from a page", "GET", map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Origin": "https://evil.example"}, 403, "Forbidden"},
	} {
		t.Run(row.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), row.method, s.url+"/api/v1/namespaces/default/pods/a/exec", nil)
			require.NoError(t, err)
			for k, v := range row.header {
				req.Header.Set(k, v)
			}
			req.Host = row.header["Host"]
			resp, err := client.Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			assert.Equal(t, row.code, resp.StatusCode)
			var status struct{ Kind, Reason, Message string }
			require.NoError(t, json.NewDecoder(resp.Body).Decode(&status))
			assert.Equal(t, "Status", status.Kind)
			assert.Equal(t, row.reason, status.Reason)
		})
	}
	assert.Equal(t, http.StatusOK, do("GET", "/api/v1/namespaces", ""))
	assert.Len(t, s.finish(t, out).Steps, 1, "refused requests are not recorded")
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

// The proxy does not start before a server that does not answer, and answers 502 when the server
// is gone. At its end it says what it has written.
func TestRecordWithoutServer(t *testing.T) {
	dir := t.TempDir()
	config, out := filepath.Join(dir, "config"), filepath.Join(dir, "out.yaml")
	stopped := start(t, "--kubeconfig", config)
	s, do := startProxy(t, config, out)
	stopped.cancel()
	require.Equal(t, 0, <-stopped.code)
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"record", "--kubeconfig", config, "--proxy-kubeconfig", filepath.Join(dir, "none"), "--out", filepath.Join(dir, "none.yaml")}, nil, io.Discard, &stderr)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr.String(), "fakeapi record: the server to record does not answer: ")
	assert.NoFileExists(t, filepath.Join(dir, "none"))
	assert.Equal(t, http.StatusBadGateway, do("GET", "/api", ""))
	got := s.finish(t, out)
	assert.Equal(t, http.StatusBadGateway, got.Steps[0].Want.Status)
	assert.Contains(t, got.Steps[0].Want.Body, "message", "a Status, which clients print")
	assert.Contains(t, s.stderr.String(), "wrote "+out+"; exchanges: 1\n")
}

// A recording of changes ends when its server is gone. It says so, and the file does.
func TestRecordStateWithoutServer(t *testing.T) {
	dir := t.TempDir()
	config, out := filepath.Join(dir, "config"), filepath.Join(dir, "state.yaml")
	real := start(t, "--kubeconfig", config)
	code, _ := real.do(t, "POST", "/api/v1/namespaces/default/configmaps", "", aConfigMap)
	require.Equal(t, http.StatusCreated, code)
	s := startCommand(t, "record", "--kubeconfig", config, "--state", "configmaps", "--out", out, "--retry", "10ms")
	real.cancel()
	require.Equal(t, 0, <-real.code)
	assert.Equal(t, 1, <-s.code)
	assert.Contains(t, s.stderr.String(), "the server is unreachable, trying again for 10ms")
	assert.Contains(t, s.stderr.String(), "configmaps: the server is unreachable since ")
	f, err := scenarios.Load(out)
	require.NoError(t, err)
	assert.Contains(t, f.Scenarios[0].Why, "The recording ended early: configmaps: the server is unreachable since ")
	var changes strings.Builder
	for _, change := range f.Scenarios[0].History {
		fmt.Fprintln(&changes, change)
	}
	assert.Contains(t, changes.String(), "ConfigMap default/a,")
	assert.Empty(t, partials(t, dir))
}

// A command that cannot write its recording fails before it starts.
func TestRecordChecksOut(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	start(t, "--kubeconfig", config)
	for _, row := range []struct{ name, out, want string }{
		{"no directory", filepath.Join(dir, "none", "out.yaml"), "no such file or directory"},
		{"a directory", dir, "is not a regular file"},
		{"a device", "/dev/null", "/dev/null is not a regular file"},
	} {
		for _, args := range [][]string{nil, {"--state", "pods"}} {
			t.Run(row.name+strings.Join(args, " "), func(t *testing.T) {
				var stdout, stderr strings.Builder
				args := append([]string{"record", "--kubeconfig", config, "--out", row.out}, args...)
				assert.Equal(t, 1, run(t.Context(), args, strings.NewReader(""), &stdout, &stderr))
				assert.Empty(t, stdout.String())
				assert.Contains(t, stderr.String(), "--out: ")
				assert.Contains(t, stderr.String(), row.want)
			})
		}
	}
	assert.Empty(t, partials(t, dir))
}

// A killed command leaves what it has recorded, and the file that was there.
func TestRecordKilled(t *testing.T) {
	dir := t.TempDir()
	config, out := filepath.Join(dir, "config"), filepath.Join(dir, "out.yaml")
	require.NoError(t, os.WriteFile(out, []byte("name: before\n"), 0o600))
	start(t, "--kubeconfig", config)
	self, err := os.Executable()
	require.NoError(t, err)
	proxied := filepath.Join(dir, "proxied")
	cmd := exec.Command(self, "record", "--kubeconfig", config, "--proxy-kubeconfig", proxied, "--out", out, "--secret", "configmaps:data.key")
	cmd.Env = append(os.Environ(), asCommand+"=1")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	_, err = bufio.NewReader(stdout).ReadString('\n') // the URL: it is ready
	require.NoError(t, err)

	cluster, err := kubeconfig.Load(t.Context(), proxied, "")
	require.NoError(t, err)
	for range 3 {
		req, err := http.NewRequestWithContext(t.Context(), "POST", cluster.URL+"/api/v1/namespaces/default/configmaps", strings.NewReader(aConfigMap))
		require.NoError(t, err)
		resp, err := cluster.Transport.RoundTrip(req)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
	}
	require.NoError(t, cmd.Process.Kill())
	cmd.Wait()

	before, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, "name: before\n", string(before))
	left := partials(t, dir)
	require.Len(t, left, 1)
	info, err := os.Stat(left[0])
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	f, err := scenarios.Load(left[0])
	require.NoError(t, err)
	assert.Equal(t, "out", f.Scenarios[0].Name)
	require.GreaterOrEqual(t, len(f.Scenarios[0].Steps), 2, "the last answer can be on its way to the file")
	assert.Equal(t, http.StatusCreated, f.Scenarios[0].Steps[0].Want.Status)
	text, err := os.ReadFile(left[0])
	require.NoError(t, err)
	assert.NotContains(t, string(text), "hunter2")
}

func TestRecordProfile(t *testing.T) {
	dir := t.TempDir()
	config, out := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "mycluster.profile")
	start(t, "--release", "v1.34", "--kubeconfig", config)
	assert.Contains(t, runs(t, 0, "record", "--profile", "--kubeconfig", config, "--out", out), "v1.34.4")
	served := start(t, "--profile", out)
	_, version := served.do(t, "GET", "/version", "", "")
	assert.Equal(t, "v1.34.4", version["gitVersion"])
	runs(t, 2, "record", "--profile", "--state", "pods", "--kubeconfig", config, "--out", out)
}
