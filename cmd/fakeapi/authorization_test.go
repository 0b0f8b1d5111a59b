//go:build go1.24

package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	nethttptest "net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The flags of webhooks, of the AuthenticationConfiguration and of the audit log work
// together.
func TestKubeAPIServerWebhooks(t *testing.T) {
	hook := nethttptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Kind, APIVersion string
			Spec             struct{ Token, User string }
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&review))
		status := fmt.Sprintf(`{"allowed":%t}`, review.Spec.User == "jane")
		if review.Kind == "TokenReview" {
			status = fmt.Sprintf(`{"authenticated":true,"user":{"username":%q}}`, review.Spec.Token)
		}
		fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"status":%s}`, review.Kind, review.APIVersion, status)
	}))
	t.Cleanup(hook.Close)
	dir := t.TempDir()
	kubeconfig, log := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "log", "audit.log")
	require.NoError(t, os.WriteFile(kubeconfig, []byte("current-context: c\ncontexts: [{name: c, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: '"+hook.URL+"', insecure-skip-tls-verify: true}}]\n"), 0o600))
	policy := filepath.Join(dir, "policy.yaml")
	require.NoError(t, os.WriteFile(policy, []byte("{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}"), 0o600))
	c := startControlPlane(t, "--authorization-mode=Webhook", "--authorization-webhook-config-file="+kubeconfig, "--authorization-webhook-version=v1",
		"--authentication-token-webhook-config-file="+kubeconfig, "--authentication-token-webhook-version=v1", "--authentication-config=testdata/authentication.yaml",
		"--audit-policy-file="+policy, "--audit-log-path="+log, "--audit-log-maxsize=1")
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	for _, tt := range []struct {
		token, path string
		want        int
	}{
		{"jane", "/api/v1/pods", 200}, {"joe", "/api/v1/pods", 403}, {"joe", "/version", 200}, // by roles
		{"", "/readyz", 200}, {"", "/version", 401},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+tt.path, nil)
		require.NoError(t, err)
		if tt.token != "" {
			req.Header.Set("Authorization", "Bearer "+tt.token)
		}
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, tt.want, resp.StatusCode, tt)
	}
	c.stop()
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"user":{"username":"jane","groups":["system:authenticated"]}`)
}
