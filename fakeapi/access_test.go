//go:build go1.24

package fakeapi_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
	"github.com/kubefake/kubefake/internal/kubeconfig"
)

func TestWithTLS(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTLS())
	assert.Regexp(t, `^https://127\.0\.0\.1:\d+$`, srv.URL)
	assert.Contains(t, string(srv.CAData), "BEGIN CERTIFICATE")
	code, _ := apitest.Do(t, srv, "GET", "/readyz", "")
	assert.Equal(t, http.StatusOK, code)
	_, err := http.Get(srv.URL + "/readyz")
	assert.ErrorContains(t, err, "certificate", "clients without the CA do not trust the certificate")
	assert.Contains(t, string(srv.Kubeconfig()), "certificate-authority-data")
}

func TestCertDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	first := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithAPIServer(apiserver.Config{CertDir: dir}))
	written, err := os.ReadFile(filepath.Join(dir, "apiserver.crt"))
	require.NoError(t, err)
	second := fakeapi.Start(t, fakeapi.WithAPIServer(apiserver.Config{CertDir: dir}), fakeapi.WithTLS())
	again, err := os.ReadFile(filepath.Join(dir, "apiserver.crt"))
	require.NoError(t, err)
	assert.Equal(t, written, again)
	for _, srv := range []*fakeapi.Server{first, second} {
		code, _ := apitest.Do(t, srv, "GET", "/readyz", "")
		assert.Equal(t, http.StatusOK, code)
	}
}

func TestWithAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	srv := fakeapi.Start(t, fakeapi.WithAddress(addr))
	assert.Equal(t, "http://"+addr, srv.URL)
	assert.NotEqual(t, srv.URL, srv.Fork(t).URL)
}

func TestWithInMemory(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	code, _ := apitest.Do(t, srv, "GET", "/readyz", "")
	assert.Equal(t, http.StatusOK, code)
	assert.Nil(t, srv.CAData)
	_, err := (&http.Client{}).Get(srv.URL + "/readyz")
	assert.Error(t, err, "no listener")
}

func TestServeHTTP(t *testing.T) {
	own := httptest.NewServer(fakeapi.Start(t, fakeapi.WithInMemory()))
	defer own.Close()
	resp, err := own.Client().Get(own.URL + "/readyz")
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "ok", string(body))
}

func TestUsers(t *testing.T) {
	tokens := []fakeapi.Option{
		fakeapi.WithInMemory(),
		fakeapi.WithToken("root-token", fakeapi.User{Name: "root", Groups: []string{"system:masters"}}),
		fakeapi.WithToken("alice-token", fakeapi.User{Name: "alice", UID: "1", Groups: []string{"devs"}}),
	}
	open := fakeapi.Start(t, tokens...)
	rbac := fakeapi.Start(t, append(tokens, fakeapi.WithRBAC())...)
	tests := []struct {
		name, token, path string
		open, rbac        int
		message           string // of the refusal under RBAC
	}{
		{"administrator", "root-token", "/api/v1/namespaces/default/pods", 200, 200, ""},
		{"user", "alice-token", "/api/v1/namespaces/default/pods", 200, 403, `pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "default"`},
		{"user, one object", "alice-token", "/apis/apps/v1/namespaces/default/deployments/d", 404, 403, `deployments.apps "d" is forbidden: User "alice" cannot get resource "deployments" in API group "apps" in the namespace "default"`},
		{"user, watch", "alice-token", "/api/v1/nodes?watch=1&resourceVersion=nonsense", 500, 403, `nodes is forbidden: User "alice" cannot watch resource "nodes" in API group "" at the cluster scope`},
		{"user, discovery", "alice-token", "/apis", 200, 200, ""},
		{"user, no resource", "alice-token", "/metrics", 0, 403, `forbidden: User "alice" cannot get path "/metrics"`},
		{"user, control", "alice-token", "/debug/fakeapi/clock", 200, 403, `forbidden: User "alice" cannot get path "/debug/fakeapi/clock"`},
		{"anonymous", "", "/api/v1/pods", 200, 403, `pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope`},
		{"anonymous, health", "", "/livez", 200, 200, ""},
		{"unknown token", "no-token", "/readyz", 401, 401, "Unauthorized"},
	}
	ask := func(t *testing.T, srv *fakeapi.Server, token, path string) (int, fakeapi.Object) {
		client := *srv.Client()
		client.Transport = bearer{token, client.Transport}
		return apitest.DoWith(t, &client, "GET", srv.URL+path, "")
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.open != 0 {
				code, _ := ask(t, open, tt.token, tt.path)
				assert.Equal(t, tt.open, code)
			}
			code, answer := ask(t, rbac, tt.token, tt.path)
			assert.Equal(t, tt.rbac, code)
			if tt.message != "" {
				assert.Equal(t, tt.message, answer["message"])
			}
		})
	}
}

// The kubeconfig is one of an administrator, with and without other users.
func TestKubeconfig(t *testing.T) {
	alice := fakeapi.WithToken("alice-token", fakeapi.User{Name: "alice"})
	for _, row := range []struct {
		name    string
		options []fakeapi.Option
	}{
		{"plain", nil},
		{"TLS", []fakeapi.Option{fakeapi.WithTLS()}},
		{"users", []fakeapi.Option{alice, fakeapi.WithRBAC()}},
		{"TLS and users", []fakeapi.Option{fakeapi.WithTLS(), alice, fakeapi.WithRBAC()}},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, row.options...)
			for name, s := range map[string]*fakeapi.Server{"server": srv, "fork": srv.Fork(t)} {
				path := filepath.Join(t.TempDir(), "config")
				require.NoError(t, os.WriteFile(path, s.Kubeconfig(), 0o600))
				cluster, err := kubeconfig.Load(t.Context(), path, "")
				require.NoError(t, err)
				req, err := http.NewRequestWithContext(t.Context(), "POST", cluster.URL+"/apis/authentication.k8s.io/v1/selfsubjectreviews", strings.NewReader("{}"))
				require.NoError(t, err)
				req.Header.Set("Content-Type", "application/json")
				resp, err := cluster.Transport.RoundTrip(req)
				require.NoError(t, err, name)
				defer resp.Body.Close()
				var review struct {
					Status struct{ UserInfo struct{ Username string } }
				}
				require.NoError(t, json.NewDecoder(resp.Body).Decode(&review))
				assert.Equal(t, "admin", review.Status.UserInfo.Username, name)
			}
			token := regexp.MustCompile(`token: ".{26,}"`)
			assert.NotEqual(t, token.Find(srv.Kubeconfig()), token.Find(fakeapi.Start(t, row.options...).Kubeconfig()), "another server has another token")
		})
	}
}

// bearer adds a token to requests.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.next.RoundTrip(r)
}

func TestWithRelease(t *testing.T) {
	tests := []struct {
		release, path string
		code          int
	}{
		{"", "/apis/internal.apiserver.k8s.io/v1alpha1", 404},
		{"1.36-all", "/apis/internal.apiserver.k8s.io/v1alpha1", 200},
		{"v1.32", "/apis/apps/v1", 200},
	}
	for _, tt := range tests {
		t.Run(tt.release+tt.path, func(t *testing.T) {
			code, _ := apitest.Do(t, fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(tt.release)), "GET", tt.path, "")
			assert.Equal(t, tt.code, code)
		})
	}
}

// Two servers with the same seed make the same UIDs and names.
func TestWithSeed(t *testing.T) {
	create := func(seed uint64) fakeapi.Object {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithSeed(seed), fakeapi.WithManualClock(apitest.Epoch))
		_, o := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"generateName":"a-"}}`)
		return o
	}
	assert.Equal(t, create(1), create(1))
	assert.NotEqual(t, create(1), create(2))
	assert.NotEqual(t, create(0), create(0))
}

func TestWithoutControl(t *testing.T) {
	code, _ := apitest.Do(t, fakeapi.Start(t, fakeapi.WithInMemory()), "GET", "/debug/fakeapi/clock", "")
	assert.Equal(t, 200, code)
	code, _ = apitest.Do(t, fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithoutControl()), "GET", "/debug/fakeapi/clock", "")
	assert.Equal(t, 404, code)
}

// TokenFor and KubeconfigFor have credentials of users that the server need not know.
func TestCredentialsOfUsers(t *testing.T) {
	alice := fakeapi.User{Name: "alice", Groups: []string{"devs"}}
	srv := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithRBAC())
	forbidden := func(srv *fakeapi.Server, token string) string {
		req, err := http.NewRequest("GET", srv.URL+"/api/v1/secrets", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		var st struct{ Message string }
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&st))
		return st.Message
	}
	const want = `secrets is forbidden: User "alice" cannot list resource "secrets" in API group "" at the cluster scope`
	assert.Equal(t, want, forbidden(srv, srv.Credentials(alice).BearerToken))
	assert.Equal(t, want, forbidden(srv.Fork(t), srv.Credentials(alice).BearerToken), "a fork accepts it")
	other := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithToken("t", alice))
	assert.Equal(t, "Unauthorized", forbidden(other, srv.Credentials(alice).BearerToken), "another server does not")
	assert.Equal(t, "Unauthorized", forbidden(other, other.Credentials(fakeapi.User{}).BearerToken), "nor a user without a name")

	file, err := srv.Credentials(alice).Kubeconfig()
	require.NoError(t, err)
	assert.Contains(t, string(file), srv.Credentials(alice).BearerToken)
	for _, row := range []struct {
		srv  *fakeapi.Server
		user fakeapi.User
		want string
	}{
		{srv, fakeapi.User{}, "fakeapi: the user has no name"},
		{fakeapi.Start(t), alice, "fakeapi: a kubeconfig of a user needs WithTLS or --tls, because kubectl sends credentials over HTTPS only"},
		{fakeapi.Start(t, fakeapi.WithInMemory()), alice, "fakeapi: a kubeconfig of a user needs WithTLS or --tls, because kubectl sends credentials over HTTPS only"},
	} {
		_, err := row.srv.Credentials(row.user).Kubeconfig()
		assert.EqualError(t, err, row.want)
		assert.ErrorIs(t, err, fakeapi.ErrInvalidOption)
	}
}
