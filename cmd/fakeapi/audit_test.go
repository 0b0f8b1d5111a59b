//go:build go1.24

package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The webhook of the audit flags gets the events in batches, the last one when the server
// ends. The log has the same events.
func TestAuditWebhook(t *testing.T) {
	bodies := make(chan string, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.Equal(t, "Bearer audit-token", r.Header.Get("Authorization"))
		assert.Equal(t, "POST /hook?timeout=30s", r.Method+" "+r.RequestURI)
		bodies <- string(body)
	}))
	defer hook.Close()
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	kubeconfig := write("kubeconfig", "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: '"+hook.URL+"/hook'}}]\nusers: [{name: u, user: {token: audit-token}}]\n")
	policy := write("policy.yaml", "{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], rules: [{level: Metadata, nonResourceURLs: [/version]}]}")
	log := filepath.Join(dir, "audit.log")
	c := startControlPlane(t, "--audit-policy-file="+policy, "--audit-webhook-config-file="+kubeconfig, "--audit-webhook-batch-max-size=2", "--audit-log-path="+log)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	for range 3 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+"/version", nil)
		require.NoError(t, err)
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		resp.Body.Close()
	}
	const part = `"stage":"ResponseComplete","requestURI":"/version"`
	assert.Equal(t, 2, strings.Count(<-bodies, part))
	assert.NotContains(t, c.stop(), "audit")
	assert.Equal(t, 1, strings.Count(<-bodies, part))
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(text), part))
}

// With the mode blocking-strict a request whose event cannot be written fails. Other modes lose the
// event. Both are in the metrics.
func TestAuditLogOnFullDisk(t *testing.T) {
	const fullDisk = "/dev/full"
	if _, err := os.Stat(fullDisk); err != nil {
		t.Skip("needs " + fullDisk)
	}
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(policy, []byte("{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata, nonResourceURLs: [/version]}]}"), 0o600))
	for _, tt := range []struct {
		mode    string
		code    int
		body    string
		metrics []string
	}{
		{"blocking", 200, `"gitVersion"`, []string{`apiserver_audit_error_total{plugin="log"} 2`, "apiserver_audit_requests_rejected_total 0"}},
		{"blocking-strict", 500, `Internal Server Error: "/version": failed to store audit event`, []string{`apiserver_audit_error_total{plugin="log"} 1`, "apiserver_audit_requests_rejected_total 1"}},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			c := startControlPlane(t, "--audit-policy-file="+policy, "--audit-log-path="+fullDisk, "--audit-log-mode="+tt.mode)
			code, body := c.sendText(t, http.MethodGet, "/version", "", "")
			assert.Equal(t, tt.code, code)
			assert.Contains(t, string(body), tt.body)
			_, text := c.sendText(t, http.MethodGet, "/metrics", "", "admin", "system:masters")
			for _, line := range tt.metrics {
				assert.Contains(t, string(text), "\n"+line+"\n")
			}
			assert.Contains(t, c.stop(), "Error in audit plugin 'log' affecting 1 audit events: write /dev/full: no space left on device")
		})
	}
}
