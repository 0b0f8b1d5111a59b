//go:build go1.24

package access_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// call sends a request with some headers, of which Host is the name of the server.
func call(t *testing.T, srv *fakeapi.Server, method, path, body string, header map[string]string) (int, fakeapi.Object) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	for k, v := range header {
		req.Header.Set(k, v)
	}
	req.Host = header["Host"]
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	return resp.StatusCode, apitest.Answer(t, resp)
}

// A web page cannot use a server on the loopback address by a name of its own, or
// from its own origin.
func TestCrossOriginRequests(t *testing.T) {
	const path = "/api/v1/namespaces/default/configmaps"
	rebound := map[string]string{"Host": "evil.example"}
	foreign := map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
	for _, row := range []struct {
		name         string
		options      []fakeapi.Option
		method, path string
		header       map[string]string
		code         int
	}{
		{"by URL", nil, "GET", path, nil, 200},
		{"by another name", nil, "GET", path, rebound, 403},
		{"by another name, TLS", []fakeapi.Option{fakeapi.WithTLS()}, "GET", path, rebound, 403},
		{"by another name, health", nil, "GET", "/readyz", rebound, 403},
		{"by another name, control", nil, "POST", "/debug/fakeapi/reset", rebound, 403},
		{"by another name, not loopback", []fakeapi.Option{fakeapi.WithAddress("0.0.0.0:0")}, "GET", path, rebound, 200},
		{"by an allowed name", []fakeapi.Option{fakeapi.WithAPIServer(apiserver.Config{AllowedHosts: []string{"evil.example"}})}, "GET", path, rebound, 200},
		{"by another name, in memory", []fakeapi.Option{fakeapi.WithInMemory()}, "GET", path, rebound, 200},
		{"by localhost", []fakeapi.Option{fakeapi.WithTLS()}, "GET", path, map[string]string{"Host": "localhost"}, 200},
		{"by the Service's name", []fakeapi.Option{fakeapi.WithTLS()}, "GET", path, map[string]string{"Host": "kubernetes.default.svc"}, 200},
		{"from another origin", nil, "DELETE", path, foreign, 403},
		{"from another origin, read", nil, "GET", path, foreign, 403},
		{"from another origin, not loopback", []fakeapi.Option{fakeapi.WithAddress("0.0.0.0:0")}, "DELETE", path, foreign, 403},
		{"from another origin, control", nil, "POST", "/debug/fakeapi/reset", foreign, 403},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, row.options...)
			code, body := call(t, srv, row.method, row.path, "", row.header)
			assert.Equal(t, row.code, code, body)
			if code == 403 {
				assert.Equal(t, "Status", body["kind"])
				assert.Equal(t, "Forbidden", body["reason"])
			}
		})
	}
}

// A page of an allowed origin may use the server, and read its answers, also those to requests that fail.
func TestAllowedOrigins(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithAPIServer(apiserver.Config{
		CORSAllowedOrigins: []string{`^https://ui\.example$`}, Authentication: &apiserver.Authentication{},
	}))
	token := srv.Credentials(fakeapi.User{Name: "alice"}).BearerToken
	for _, row := range []struct {
		name, method, path, origin, token string
		code                              int
		allowed                           bool
	}{
		{"question", "OPTIONS", apitest.ConfigMapsPath, "https://ui.example", "", 204, true},
		{"question that is not valid", "OPTIONS", apitest.ConfigMapsPath + "?timeout=x", "https://ui.example", "", 400, false},
		{"question of another origin", "OPTIONS", apitest.ConfigMapsPath, "https://evil.example", "", 403, false},
		{"read", "GET", "/version", "https://ui.example", token, 200, true},
		{"without permission", "GET", apitest.ConfigMapsPath, "https://ui.example", token, 403, true},
		{"with an unknown token", "GET", "/version", "https://ui.example", "x", 401, true},
		{"no such page", "GET", "/api/v1/none", "https://ui.example", "", 403, true},
		{"of another origin with a token", "GET", "/version", "https://evil.example", token, 200, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			req, err := http.NewRequest(row.method, srv.URL+row.path, nil)
			require.NoError(t, err)
			req.Header.Set("Origin", row.origin)
			if row.token != "" {
				req.Header.Set("Authorization", "Bearer "+row.token)
			}
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, row.code, resp.StatusCode)
			want := ""
			if row.allowed {
				want = row.origin
			}
			assert.Equal(t, want, resp.Header.Get("Access-Control-Allow-Origin"))
		})
	}
}

// A client with an address of its own for a name is no web page, but sends the same
// requests, so that the name must be allowed.
func TestAllowedHosts(t *testing.T) {
	get := func(srv *fakeapi.Server) (int, string) {
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(srv.URL, "http://"))
		}
		transport := &http.Transport{DialContext: dial}
		defer transport.CloseIdleConnections()
		resp, err := (&http.Client{Transport: transport}).Get("http://cluster-a.example/readyz")
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(body)
	}
	code, body := get(fakeapi.Start(t))
	assert.Equal(t, 403, code)
	assert.Contains(t, body, `\"cluster-a.example\" is not one of its names`)
	assert.Contains(t, body, "AllowedHosts of apiserver.Config")
	for _, names := range [][]string{{"cluster-a.example"}, {"b", "*"}} {
		code, _ = get(fakeapi.Start(t, fakeapi.WithAPIServer(apiserver.Config{AllowedHosts: names})))
		assert.Equal(t, 200, code)
	}
}

// The control endpoint reads no body that a page can send without asking first.
func TestControlContentType(t *testing.T) {
	srv := fakeapi.Start(t)
	for _, row := range []struct {
		method, body, contentType string
		code                      int
	}{
		{"POST", "", "", 200},
		{"POST", "{}", "application/json", 200},
		{"POST", "{}", "application/json; charset=utf-8", 200},
		{"POST", "{}", "", 415},
		{"POST", "{}", "text/plain", 415},
		{"POST", "{}", "application/x-www-form-urlencoded", 415},
		{"POST", "", "application/x-www-form-urlencoded", 415},
		{"POST", "", "text/plain;charset=UTF-8", 415},
		{"POST", "{}", "multipart/form-data; boundary=x", 415},
		{"POST", "{}", "application/json, text/plain", 415},
	} {
		t.Run(row.method+" "+row.contentType+" "+row.body, func(t *testing.T) {
			header := map[string]string{}
			if row.contentType != "" {
				header["Content-Type"] = row.contentType
			}
			code, body := call(t, srv, row.method, "/debug/fakeapi/compact", row.body, header)
			assert.Equal(t, row.code, code, body)
			if code == 415 {
				assert.Equal(t, "UnsupportedMediaType", body["reason"])
				assert.Contains(t, body["message"], "curl --json")
			}
		})
	}
}

// Users need the permission for the path of the control endpoint, as for other paths
// that are no resources.
func TestControlUsers(t *testing.T) {
	users := []fakeapi.Option{
		fakeapi.WithInMemory(),
		fakeapi.WithToken("root-token", fakeapi.User{Name: "root", Groups: []string{"system:masters"}}),
		fakeapi.WithToken("alice-token", fakeapi.User{Name: "alice"}),
		fakeapi.WithToken("bob-token", fakeapi.User{Name: "bob"}),
	}
	open := fakeapi.Start(t, users...)
	rbac := fakeapi.Start(t, append(users, fakeapi.WithRBAC(), fakeapi.WithObjects(`
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: resetter}, rules: [{nonResourceURLs: [/debug/fakeapi/reset], verbs: [post]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: resetter}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: resetter},
 subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}]}`))...)
	const compact, reset = "/debug/fakeapi/compact", "/debug/fakeapi/reset"
	for _, row := range []struct {
		name, token, path string
		open, rbac        int
	}{
		{"administrator", "root-token", compact, 200, 200},
		{"user", "alice-token", compact, 200, 403},
		{"permitted user, another path", "bob-token", compact, 200, 403},
		{"permitted user", "bob-token", reset, 200, 200},
		{"unknown token", "x", compact, 401, 401},
		{"no token", "", compact, 403, 403},
	} {
		t.Run(row.name, func(t *testing.T) {
			header := map[string]string{}
			if row.token != "" {
				header["Authorization"] = "Bearer " + row.token
			}
			code, _ := call(t, open, "POST", row.path, "", header)
			assert.Equal(t, row.open, code)
			code, _ = call(t, rbac, "POST", row.path, "", header)
			assert.Equal(t, row.rbac, code)
		})
	}
}
