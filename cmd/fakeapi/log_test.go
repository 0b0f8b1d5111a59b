//go:build go1.24

package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fakehttptest "github.com/kubefake/kubefake/httptest"
)

func TestLog(t *testing.T) {
	s := start(t)
	for _, name := range []string{"a", "b"} {
		code, _ := s.do(t, "POST", "/api/v1/namespaces/default/configmaps?fieldManager=shop", "", `{"metadata":{"name":"`+name+`"}}`)
		require.Equal(t, http.StatusCreated, code)
	}
	out := runs(t, 0, "log", "--server", s.url+"/")
	assert.Contains(t, out, "shop create configmaps default/a\n")
	assert.Contains(t, out, "shop create configmaps default/b\n")
	out = runs(t, 0, "log", "--server", s.url, "--lines", "1")
	assert.Contains(t, out, "(1 earlier events)")
	assert.NotContains(t, out, "default/a")

	page := filepath.Join(t.TempDir(), "story.html")
	assert.Empty(t, runs(t, 0, "log", "--server", s.url, "--html", page))
	b, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(b), "<title>"+strings.TrimPrefix(s.url, "http://")+"</title>")
	assert.Contains(t, string(b), `"name":"b"`)
}

// log can use the kubeconfig that serve writes, with TLS and a token.
func TestLogKubeconfig(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config")
	start(t, "--tls", "--token-auth-file", "testdata/tokens.csv", "--authorization-mode", "RBAC", "--kubeconfig", config)
	assert.Empty(t, runs(t, 0, "log", "--kubeconfig", config), "nothing has happened")
}

func TestLogErrors(t *testing.T) {
	answer := func(code int, body string) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			w.Write([]byte(body))
		}))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	forbidden := answer(403, `{"kind":"Status","message":"forbidden: User cannot get path","code":403}`)
	config := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(config, fakehttptest.Kubeconfig{Server: forbidden}.YAML(), 0o600))
	for _, row := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"TLS server over HTTP", []string{"--server", "http://" + secure.Listener.Addr().String()}, 1, "Client sent an HTTP request to an HTTPS server.; give --kubeconfig, or --server with https://, if the server has TLS\n"},
		{"unknown CA", []string{"--server", secure.URL}, 1, "certificate signed by unknown authority; give --kubeconfig, with the file of serve --kubeconfig, which has the CA certificate of the server\n"},
		{"no credentials", []string{"--server", forbidden}, 1, "has no story: 403 Forbidden: forbidden: User cannot get path; give --kubeconfig, with the file of a user who may read /debug/fakeapi/, such as that of serve --kubeconfig\n"},
		{"another user", []string{"--kubeconfig", config}, 1, "has no story: 403 Forbidden: forbidden: User cannot get path\n"},
		{"no story", []string{"--server", answer(404, "404 page not found\n")}, 1, "has no story: 404 Not Found: 404 page not found"},
		{"invalid JSON", []string{"--server", answer(200, "<html>")}, 1, " cannot be read: invalid character"},
		{"another format", []string{"--server", answer(200, `{"format":99}`)}, 1, "the story has format 99, not 1"},
		{"invalid URL", []string{"--server", "http://[::"}, 2, `"http://[::" is not a URL`},
		{"no server", []string{"--server", "http://127.0.0.1:1"}, 1, "connection refused; start fakeapi serve, or give --server or --kubeconfig"},
		{"no kubeconfig", []string{"--kubeconfig", "testdata/none"}, 1, "testdata/none: no such file"},
		{"no such directory", []string{"--server", answer(200, `{"format":1}`), "--html", "testdata/none/a"}, 1, "testdata/none/a: no such file"},
		{"an argument", []string{"story"}, 2, `unexpected argument "story"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			assert.Equal(t, row.code, run(t.Context(), append([]string{"log"}, row.args...), nil, &stdout, &stderr))
			assert.Contains(t, stderr.String(), row.want)
			assert.Empty(t, stdout.String())
		})
	}
}
