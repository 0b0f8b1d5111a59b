//go:build go1.24

package kubeconfig_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/kubeconfig"
)

// whoami answers with the credentials of the client: token, password or certificate.
func whoami(w http.ResponseWriter, r *http.Request) {
	name := r.Header.Get("Authorization")
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		name = "CN=" + r.TLS.PeerCertificates[0].Subject.CommonName
	}
	io.WriteString(w, name)
}

func TestLoad(t *testing.T) {
	h, err := httptest.Start(http.HandlerFunc(whoami), httptest.Options{TLS: true})
	require.NoError(t, err)
	defer h.Close()
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), mode))
	}
	write("ca.crt", string(h.CACertificate()), 0o600)
	cert, key, err := httptest.IssueClient("jane", nil)
	require.NoError(t, err)
	write("jane.crt", string(cert), 0o600)
	write("jane.key", string(key), 0o600)
	write("token", "from-file\n", 0o600)
	write("plugin", "#!/bin/sh\necho '{\"kind\": \"ExecCredential\", \"status\": {\"token\": \"'$PREFIX$1'\"}}'\n", 0o700)
	write("broken", "#!/bin/sh\necho no login >&2; exit 1\n", 0o700)

	const contexts = `
current-context: token
clusters:
- {name: c, cluster: {server: SERVER/, certificate-authority: ca.crt}}
- {name: untrusted, cluster: {server: SERVER}}
- {name: insecure, cluster: {server: SERVER, insecure-skip-tls-verify: true}}
- {name: odd, cluster: {server: nowhere}}
contexts:
- {name: token, context: {cluster: c, user: token}}
- {name: file, context: {cluster: c, user: file}}
- {name: password, context: {cluster: c, user: password}}
- {name: certificate, context: {cluster: c, user: certificate}}
- {name: keyless, context: {cluster: c, user: keyless}}
- {name: plugin, context: {cluster: c, user: plugin}}
- {name: broken, context: {cluster: c, user: broken}}
- {name: provider, context: {cluster: c, user: provider}}
- {name: nobody, context: {cluster: insecure}}
- {name: untrusted, context: {cluster: untrusted}}
- {name: odd, context: {cluster: odd}}
- {name: no-cluster, context: {cluster: x}}
- {name: no-user, context: {cluster: c, user: x}}
users:
- {name: token, user: {token: t}}
- {name: file, user: {tokenFile: token}}
- {name: password, user: {username: u, password: p}}
- {name: certificate, user: {client-certificate: jane.crt, client-key: jane.key}}
- {name: keyless, user: {client-certificate: jane.crt}}
- {name: plugin, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, args: [b], env: [{name: PREFIX, value: a}]}}}
- {name: broken, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./broken}}}
- {name: provider, user: {auth-provider: {name: oidc}}}
`
	path := filepath.Join(dir, "config")
	write("config", strings.ReplaceAll(contexts, "SERVER", h.URL), 0o600)
	for _, row := range []struct{ name, context, want, wantErr string }{
		{name: "current context", want: "Bearer t"},
		{name: "token file", context: "file", want: "Bearer from-file"},
		{name: "password", context: "password", want: "Basic dTpw"},
		{name: "certificate", context: "certificate", want: "CN=jane"},
		{name: "certificate without a key", context: "keyless", wantErr: "client-certificate: "},
		{name: "plugin", context: "plugin", want: "Bearer ab"},
		{name: "no user, not verified", context: "nobody", want: ""},
		{name: "not trusted", context: "untrusted", wantErr: "certificate"},
		{name: "failing plugin", context: "broken", wantErr: "exec ./broken: exit status 1: no login"},
		{name: "auth provider", context: "provider", wantErr: "auth-provider oidc: "},
		{name: "invalid URL", context: "odd", wantErr: `server: "nowhere" is not a URL`},
		{name: "unknown context", context: "x", wantErr: `context "x" does not exist`},
		{name: "unknown cluster", context: "no-cluster", wantErr: `cluster "x" does not exist`},
		{name: "unknown user", context: "no-user", wantErr: `user "x" does not exist`},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := ask(t, path, row.context)
			if row.wantErr != "" {
				require.ErrorContains(t, err, row.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

// ask sends a request with the user of a context and returns the answer.
func ask(t *testing.T, path, context string) (string, error) {
	c, err := kubeconfig.Load(t.Context(), path, context)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+"/", nil)
	require.NoError(t, err)
	resp, err := c.Transport.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

// Load reads the files that package httptest writes.
func TestLoadHTTPTestKubeconfig(t *testing.T) {
	h, err := httptest.Start(http.HandlerFunc(whoami), httptest.Options{TLS: true})
	require.NoError(t, err)
	defer h.Close()
	path := filepath.Join(t.TempDir(), "config")
	file := httptest.Kubeconfig{Server: h.URL, CertificateAuthority: h.CACertificate(), Token: "x"}.YAML()
	require.NoError(t, os.WriteFile(path, file, 0o600))
	got, err := ask(t, path, "")
	require.NoError(t, err)
	assert.Equal(t, "Bearer x", got)
}

func TestLoadInvalidFile(t *testing.T) {
	_, err := kubeconfig.Load(t.Context(), filepath.Join(t.TempDir(), "config"), "")
	assert.ErrorIs(t, err, os.ErrNotExist)
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path, []byte("contexts: 5"), 0o600))
	_, err = kubeconfig.Load(t.Context(), path, "")
	assert.ErrorContains(t, err, path)
}

// A program may replace http.DefaultTransport, so that the clients of a library reach servers in memory.
func TestReplacedDefaultTransport(t *testing.T) {
	h, err := httptest.Start(http.HandlerFunc(whoami), httptest.Options{})
	require.NoError(t, err)
	defer h.Close()
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	http.DefaultTransport = http.NewFileTransport(http.Dir(t.TempDir()))
	resp, err := (&http.Client{Transport: kubeconfig.At(h.URL).Transport}).Get(h.URL)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusOK, resp.StatusCode)
}
