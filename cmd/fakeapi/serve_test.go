//go:build go1.24

package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	kubeconfigfile "github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/release"
)

// do sends a request with a bearer token, or without one if token is "".
func (s *server) do(t *testing.T, method, path, token, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var out map[string]any
	json.Unmarshal(b, &out) // out stays nil for other bodies
	return resp.StatusCode, out
}

func TestServe(t *testing.T) {
	s := start(t, "--listen", "127.0.0.1:0")
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+$`, s.url)

	code, _ := s.do(t, "GET", "/readyz", "", "")
	assert.Equal(t, http.StatusOK, code)
	code, made := s.do(t, "POST", "/api/v1/namespaces/default/configmaps", "", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
	assert.Equal(t, http.StatusCreated, code)
	code, got := s.do(t, "GET", "/api/v1/namespaces/default/configmaps/a", "", "")
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, made, got)

	s.cancel()
	assert.Equal(t, 0, <-s.code)
	_, err := http.Get(s.url)
	assert.Error(t, err, "the server has stopped")
}

func TestServeDeletesAtEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "b"), 0o755))
	s := start(t, "--delete-at-end", dir, "--kubeconfig", filepath.Join(dir, "b", "kubeconfig"))
	assert.FileExists(t, filepath.Join(dir, "b", "kubeconfig"))
	s.cancel()
	assert.Equal(t, 0, <-s.code)
	assert.NoDirExists(t, dir)
}

// Replicas are API servers of one cluster, each with a URL and a kubeconfig.
func TestServeReplicas(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "fake.kubeconfig")
	s := start(t, "--replicas", "2", "--kubeconfig", kubeconfig)
	code, list := s.do(t, "GET", "/debug/fakeapi/replicas", "", "")
	require.Equal(t, http.StatusOK, code)
	replicas := list["replicas"].([]any)
	require.Len(t, replicas, 2)
	second := replicas[1].(map[string]any)
	code, _ = s.do(t, "POST", "/api/v1/namespaces/default/configmaps", "", `{"metadata":{"name":"a"}}`)
	require.Equal(t, http.StatusCreated, code)
	resp, err := http.Get(second["url"].(string) + "/api/v1/namespaces/default/configmaps/a")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	written, err := os.ReadFile(strings.TrimSuffix(kubeconfig, ".kubeconfig") + "-2.kubeconfig")
	require.NoError(t, err)
	assert.Contains(t, string(written), second["url"])
}

// Clusters have a server each. One kubeconfig has a context for each of them, and one output.
func TestServeClusters(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "fake.kubeconfig")
	faults := filepath.Join(t.TempDir(), "faults.yaml")
	require.NoError(t, os.WriteFile(faults, []byte("{in: west, resource: pods, code: 503}"), 0o600))
	usage := filepath.Join(t.TempDir(), "usage.json")
	input := `{apiVersion: v1, kind: ConfigMap, metadata: {name: both}}`
	s := startWithInput(t, input, "serve", "--clusters", "east,west", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig, "--faults", faults,
		"--objects", "-", "--usage", usage, "--manual-clock", "2030-01-01T00:00:00Z")
	contexts := map[string]*server{}
	for _, name := range []string{"east", "west"} {
		c, err := kubeconfigfile.Load(t.Context(), kubeconfig, name)
		require.NoError(t, err)
		contexts[name] = &server{url: c.URL}
	}
	current, err := kubeconfigfile.Load(t.Context(), kubeconfig, "")
	require.NoError(t, err)
	assert.Equal(t, s.url, current.URL)
	assert.Equal(t, s.url, contexts["east"].url)
	for name, c := range contexts {
		code, _ := c.do(t, "POST", "/api/v1/namespaces/default/configmaps", "", fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
		assert.Equal(t, http.StatusCreated, code)
		for _, other := range []string{"east", "west", "both"} {
			want := http.StatusNotFound
			if other == name || other == "both" {
				want = http.StatusOK
			}
			code, _ := c.do(t, "GET", "/api/v1/namespaces/default/configmaps/"+other, "", "")
			assert.Equal(t, want, code, "%s in %s", other, name)
		}
	}
	code, _ := contexts["east"].do(t, "GET", "/api/v1/pods", "", "")
	assert.Equal(t, http.StatusOK, code)
	code, _ = contexts["west"].do(t, "GET", "/api/v1/pods", "", "")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	code, _ = contexts["west"].do(t, "POST", "/debug/fakeapi/clock", "", `{"advance":"1m"}`)
	assert.Equal(t, http.StatusOK, code)
	_, clock := contexts["east"].do(t, "GET", "/debug/fakeapi/clock", "", "")
	assert.Equal(t, "2030-01-01T00:01:00Z", clock["now"])

	s.cancel()
	require.Equal(t, 0, <-s.code)
	assert.Contains(t, s.stderr.String(), fmt.Sprintf("cluster     %s kubectl --context west\n", contexts["west"].url))
	text, err := os.ReadFile(usage)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"count":2,"example":"POST /api/v1/namespaces/default/configmaps"`, "the usage of both")
}

func TestServeClustersAndReplicas(t *testing.T) {
	var stderr strings.Builder
	assert.Equal(t, 2, run(t.Context(), []string{"serve", "--clusters", "a,b", "--replicas", "2"}, strings.NewReader(""), io.Discard, &stderr))
	assert.Contains(t, stderr.String(), "--replicas and --clusters exclude each other")
}

// An open watch does not delay the end of the server.
func TestServeEndsOpenWatch(t *testing.T) {
	s := start(t)
	resp, err := http.Get(s.url + "/api/v1/configmaps?watch=1&resourceVersion=1")
	require.NoError(t, err)
	defer resp.Body.Close()
	s.cancel()
	assert.Equal(t, 0, <-s.code)
	_, err = io.ReadAll(resp.Body)
	assert.NoError(t, err, "the stream ends cleanly")
}

// These flags are used by the conformance tool.
func TestServeUsers(t *testing.T) {
	s := start(t, "--token-auth-file", "testdata/tokens.csv", "--authorization-mode", "RBAC",
		"--service-cluster-ip-range", "10.0.0.0/24", "--controllers", "none", "--feature-gates", "CBORServingAndStorage=true")
	tests := []struct {
		name, token, path string
		code              int
	}{
		{"master", "roottoken", "/api/v1/pods", http.StatusOK},
		{"user", "alicetoken", "/api/v1/pods", http.StatusForbidden},
		{"user discovers", "bobtoken", "/api/v1", http.StatusOK},
		{"anonymous", "", "/api/v1/pods", http.StatusForbidden},
		{"anonymous asks for health", "", "/readyz", http.StatusOK},
		{"unknown token", "x", "/api/v1/pods", http.StatusUnauthorized},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, _ := s.do(t, "GET", tt.path, tt.token, "")
			assert.Equal(t, tt.code, code)
		})
	}
}

func TestServeObjects(t *testing.T) {
	s := start(t, "--objects", "testdata/objects", "--crds", "testdata/crds")
	for _, path := range []string{
		"/api/v1/namespaces/shop",
		"/api/v1/namespaces/shop/configmaps/settings",
		"/api/v1/namespaces/shop/configmaps/first",
		"/api/v1/namespaces/shop/configmaps/second",
		"/api/v1/namespaces/shop/secrets/key",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com",
	} {
		code, _ := s.do(t, "GET", path, "", "")
		assert.Equal(t, http.StatusOK, code, path)
	}
}

func TestServeRelease(t *testing.T) {
	tests := []struct {
		name string
		args []string
		code int // of an API version that is off by default
	}{
		{"default", nil, http.StatusNotFound},
		{"all", []string{"--runtime-config", "api/all=true"}, http.StatusOK},
		{"all off again", []string{"--runtime-config", "api/beta=true,api/beta=false"}, http.StatusNotFound},
		{"all by name", []string{"--release", "1.36-all"}, http.StatusOK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, tt.args...)
			code, _ := s.do(t, "GET", "/apis/internal.apiserver.k8s.io/v1alpha1", "", "")
			assert.Equal(t, tt.code, code)
		})
	}
}

// Two servers with the same seed and clock create the same object.
func TestServeSeedAndClock(t *testing.T) {
	create := func() map[string]any {
		s := start(t, "--seed", "7", "--manual-clock", "2030-01-02T03:04:05Z")
		code, obj := s.do(t, "POST", "/api/v1/namespaces/default/configmaps", "", `{"metadata":{"generateName":"a-"}}`)
		require.Equal(t, http.StatusCreated, code)
		return obj
	}
	first := create()
	assert.Equal(t, first, create())
	assert.Equal(t, "2030-01-02T03:04:05Z", first["metadata"].(map[string]any)["creationTimestamp"])
}

func TestServeControl(t *testing.T) {
	code, _ := start(t).do(t, "POST", "/debug/fakeapi/compact", "", "{}")
	assert.Equal(t, http.StatusOK, code)
	code, _ = start(t, "--control=false").do(t, "POST", "/debug/fakeapi/compact", "", "{}")
	assert.Equal(t, http.StatusNotFound, code)
}

// --lag takes effect from the start.
func TestServeLag(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
		names int // how many of three ConfigMaps are visible
	}{
		{"by time", []string{"--lag", "configmaps=1m"}, 0},
		{"by revisions", []string{"--lag", "configmaps=1"}, 2},
		{"frozen", []string{"--lag", "configmaps=frozen"}, 0},
		{"all", []string{"--lag", "1"}, 2},
		{"all except one", []string{"--lag", "frozen", "--lag", "configmaps=2"}, 1},
		{"another resource", []string{"--lag", "pods=frozen"}, 3},
		{"none", nil, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, tt.flags...)
			code, _ := s.do(t, "POST", "/api/v1/namespaces", "", `{"metadata":{"name":"n"}}`)
			require.Equal(t, http.StatusCreated, code)
			for _, name := range []string{"a", "b", "c"} {
				code, _ := s.do(t, "POST", "/api/v1/namespaces/n/configmaps", "", `{"metadata":{"name":"`+name+`"}}`)
				require.Equal(t, http.StatusCreated, code)
			}
			code, list := s.do(t, "GET", "/api/v1/namespaces/n/configmaps?resourceVersion=0", "", "")
			require.Equal(t, http.StatusOK, code)
			assert.Len(t, list["items"], tt.names)
		})
	}
}

func TestServeUpgrade(t *testing.T) {
	s := start(t, "--release", "v1.34", "--manual-clock", "2030-01-02T03:04:05Z", "--upgrade-after", "1h", "--upgrade-after", "30m=1.35")
	version := func() any {
		_, v := s.do(t, "GET", "/version", "", "")
		return v["gitVersion"]
	}
	assert.Equal(t, "v1.34.4", version())
	for _, want := range []string{"v1.35.4", release.Default} {
		code, _ := s.do(t, "POST", "/debug/fakeapi/clock", "", `{"advance":"30m"}`)
		require.Equal(t, http.StatusOK, code)
		require.Eventually(t, func() bool { return version() == want }, time.Minute, time.Millisecond, "upgraded to %s", want)
	}
	for _, value := range []string{"soon", "-1s", "1s=", "1s=v1.2"} {
		assert.Error(t, newServe().flagSet().Parse([]string{"--upgrade-after", value}), value)
	}
}

// --faults and --chaos take effect from the start.
func TestServeFaults(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
		ids   []string
	}{
		{"a file", []string{"--faults", "testdata/faults/late.yaml"}, []string{"late", "later"}},
		{"two files", []string{"--faults", "testdata/faults/late.yaml", "--faults", "testdata/faults/expired.json"}, []string{"late", "later", "expired"}},
		{"a pattern", []string{"--faults", "testdata/faults/*"}, []string{"expired", "late", "later"}},
		{"none", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var ids []string
			for _, f := range start(t, tt.flags...).faults(t) {
				ids = append(ids, f["id"].(string))
			}
			assert.Equal(t, tt.ids, ids)
		})
	}
	t.Run("chaos", func(t *testing.T) {
		for _, f := range start(t, "--chaos", "7").faults(t) {
			assert.Equal(t, float64(7), f["seed"])
		}
	})
}

// faults returns the server's faults.
func (s *server) faults(t *testing.T) (faults []map[string]any) {
	t.Helper()
	code, answer := s.do(t, "GET", "/debug/fakeapi/faults", "", "")
	require.Equal(t, http.StatusOK, code)
	for _, f := range answer["faults"].([]any) {
		faults = append(faults, f.(map[string]any)["fault"].(map[string]any))
	}
	return faults
}

func TestServeCompaction(t *testing.T) {
	s := start(t, "--manual-clock", "2030-01-02T03:04:05Z", "--compact-every", "1m", "--compact-keep", "10s")
	code, old := s.do(t, "POST", "/api/v1/namespaces/default/configmaps", "", `{"metadata":{"name":"a"}}`)
	require.Equal(t, http.StatusCreated, code)
	code, _ = s.do(t, "POST", "/api/v1/namespaces/default/configmaps", "", `{"metadata":{"name":"b"}}`)
	require.Equal(t, http.StatusCreated, code)
	atOldVersion := "/api/v1/configmaps?resourceVersionMatch=Exact&resourceVersion=" + old["metadata"].(map[string]any)["resourceVersion"].(string)
	code, _ = s.do(t, "GET", atOldVersion, "", "")
	assert.Equal(t, http.StatusOK, code)
	code, _ = s.do(t, "POST", "/debug/fakeapi/clock", "", `{"advance": "1m"}`)
	require.Equal(t, http.StatusOK, code)
	code, _ = s.do(t, "GET", atOldVersion, "", "")
	assert.Equal(t, http.StatusGone, code)
}

// The kubeconfig has the server's URL. The certificate directory has the certificate
// that clients must trust.
func TestServeTLS(t *testing.T) {
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	s := start(t, "--tls", "--cert-dir", dir, "--kubeconfig", kubeconfig)
	assert.Regexp(t, `^https://`, s.url)
	written, err := os.ReadFile(kubeconfig)
	require.NoError(t, err)
	assert.Contains(t, string(written), s.url)
	assert.Contains(t, string(written), "certificate-authority-data")

	chain, err := os.ReadFile(filepath.Join(dir, "apiserver.crt"))
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(chain))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get(s.url + "/readyz")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusOK, resp.StatusCode)
}

// serve prints the URL to stdout, and to stderr how to use the server.
func TestServeNextSteps(t *testing.T) {
	given := filepath.Join(t.TempDir(), "my config")
	for _, row := range []struct {
		name string
		args []string
		want string // URL and HOST are those of the server, FILE is its kubeconfig
		file string // the kubeconfig; "": the default one
	}{
		{"default", nil, `
kubeconfig  FILE
kubectl     kubectl --kubeconfig FILE get namespaces
page        URL/debug/fakeapi/
story       fakeapi log --server URL
stop        Ctrl+C
controllers: none (--controllers '*' runs Deployments, namespaces, ...)
`, ""},
		{"a kubeconfig", []string{"--kubeconfig", given}, `
kubeconfig  FILE
kubectl     kubectl --kubeconfig "FILE" get namespaces
page        URL/debug/fakeapi/
story       fakeapi log --kubeconfig "FILE"
stop        Ctrl+C
controllers: none (--controllers '*' runs Deployments, namespaces, ...)
`, given},
		{"no control endpoint", []string{"--control=false"}, `
kubeconfig  FILE
kubectl     kubectl --kubeconfig FILE get namespaces
stop        Ctrl+C
controllers: none (--controllers '*' runs Deployments, namespaces, ...)
`, ""},
		{"users", []string{"--tls", "--token-auth-file", "testdata/tokens.csv"}, `
kubeconfig  FILE
kubectl     kubectl --kubeconfig FILE get namespaces
control     URL/debug/fakeapi/
story       fakeapi log --server URL
stop        Ctrl+C
controllers: none (--controllers '*' runs Deployments, namespaces, ...)
`, ""},
		{"users over plain HTTP", []string{"--token-auth-file", "testdata/tokens.csv", "--quiet"},
			"warning: kubectl, Helm and client-go send no token over plain HTTP, so they are system:anonymous here; add --tls\n", ""},
		{"quiet", []string{"--quiet"}, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := start(t, row.args...)
			_, host, _ := strings.Cut(s.url, "://")
			file, err := servedKubeconfig(host)
			require.NoError(t, err)
			if row.file != "" {
				assert.NoFileExists(t, file)
				file = row.file
			}
			info, err := os.Stat(file)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

			s.cancel()
			require.Equal(t, 0, <-s.code)
			assert.Equal(t, strings.NewReplacer("URL", s.url, "FILE", file).Replace(row.want), s.stderr.String())
			if row.file == "" {
				assert.NoFileExists(t, file, "serve removes its own file")
			}
		})
	}
}

// serve removes the kubeconfigs of servers that were killed, and no others.
func TestServeRemovesStaleKubeconfigs(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
	dir, err := servedFolder()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	killed := exec.Command(os.Args[0], "-test.run=^$")
	require.NoError(t, killed.Run())
	here, _ := os.Hostname()
	kept := map[string]string{
		"alive.kubeconfig":         fmt.Sprintf(processComment, os.Getppid(), here),
		"other-host.kubeconfig":    fmt.Sprintf(processComment, killed.Process.Pid, here+"-2"),
		"of-the-user.kubeconfig":   "apiVersion: v1\n",
		"another-file.of-the-user": fmt.Sprintf(processComment, killed.Process.Pid, here),
	}
	for name, text := range kept {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "stale.kubeconfig"), fmt.Appendf(nil, processComment+"apiVersion: v1\n", killed.Process.Pid, here), 0o600))
	s := start(t)
	assert.NoFileExists(t, filepath.Join(dir, "stale.kubeconfig"))
	for name := range kept {
		assert.FileExists(t, filepath.Join(dir, name))
	}
	_, host, _ := strings.Cut(s.url, "://")
	file, err := servedKubeconfig(host)
	require.NoError(t, err)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), thisProcess())
}

// Without a home directory serve works, and log works with the server of the default
// options.
func TestServeWithoutHome(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, "")
	}
	s := start(t)
	assert.Empty(t, runs(t, 0, "log", "--server", s.url))
	s.cancel()
	require.Equal(t, 0, <-s.code)
	assert.Contains(t, s.stderr.String(), "\nkubectl     kubectl --server "+s.url+" get namespaces\n")
}

// log finds the credentials of a server by its address.
func TestLogFindsCredentials(t *testing.T) {
	s := start(t, "--tls", "--token-auth-file", "testdata/tokens.csv", "--authorization-mode", "RBAC")
	assert.Empty(t, runs(t, 0, "log", "--server", s.url))
	_, host, _ := strings.Cut(s.url, "://")
	assert.Empty(t, runs(t, 0, "log", "--server", host))
	var stderr strings.Builder
	assert.Equal(t, 1, run(t.Context(), []string{"log", "--server", "http://" + host}, nil, io.Discard, &stderr))
	assert.Contains(t, stderr.String(), "Client sent an HTTP request to an HTTPS server")
}

func TestServeAddressInUse(t *testing.T) {
	s := start(t)
	var stderr strings.Builder
	assert.Equal(t, 1, run(t.Context(), []string{"serve", "--listen", strings.TrimPrefix(s.url, "http://")}, nil, io.Discard, &stderr))
	assert.Contains(t, stderr.String(), "address already in use; --listen 127.0.0.1:0 takes a free port\n")
}

// A value is a file, a directory, a pattern or the standard input.
func TestServeObjectsFrom(t *testing.T) {
	const namespace, first = "/api/v1/namespaces/shop", "/api/v1/namespaces/shop/configmaps/first"
	text, err := os.ReadFile("testdata/objects/namespace.yaml")
	require.NoError(t, err)
	for _, row := range []struct {
		name  string
		args  []string
		stdin string
		path  string
	}{
		{"file", []string{"--objects", "testdata/objects/namespace.yaml"}, "", namespace},
		{"pattern", []string{"--objects", "testdata/objects/n*"}, "", namespace},
		{"several", []string{"--objects", "testdata/objects/namespace.yaml", "--objects", "testdata/objects/list.json"}, "", first},
		{"overlapping", []string{"--objects", "testdata/objects", "--objects", "testdata/objects/list.json"}, "", first},
		{"standard input", []string{"--objects", "-"}, string(text), namespace},
		{"missing namespace", []string{"--objects", "testdata/objects/list.json", "--create-namespaces"}, "", first},
		{"file of CRDs", []string{"--objects", "testdata/objects", "--crds", "testdata/crds/widgets.yaml"}, "", first},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := startWithInput(t, row.stdin, append([]string{"serve", "--listen", "127.0.0.1:0"}, row.args...)...)
			code, _ := s.do(t, "GET", row.path, "", "")
			assert.Equal(t, http.StatusOK, code)
		})
	}
}

// A problem in the standard input names it.
func TestServeObjectsFromBrokenInput(t *testing.T) {
	var stderr strings.Builder
	code := run(t.Context(), []string{"serve", "--listen", "127.0.0.1:0", "--objects", "-"}, strings.NewReader("kind: X"), io.Discard, &stderr)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr.String(), "fakeapi serve: --objects: <stdin>: ")
}

// A server without users that other machines can reach says so.
func TestServeWarnsOfRemoteClients(t *testing.T) {
	for _, row := range []struct {
		name string
		args []string
		want bool
	}{
		{"loopback", nil, false},
		{"all addresses", []string{"--listen", "0.0.0.0:0"}, true},
		{"all addresses, users", []string{"--listen", "0.0.0.0:0", "--tls", "--token-auth-file", "testdata/tokens.csv"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := start(t, row.args...)
			s.cancel()
			require.Equal(t, 0, <-s.code)
			assert.Equal(t, row.want, strings.Contains(s.stderr.String(), "warning: other machines can reach 0.0.0.0:0"))
		})
	}
}
