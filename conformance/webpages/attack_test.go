package webpages

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/scenarios"
)

//go:embed testdata/attack.html
var page []byte

// fakeapi is the path of the command.
var fakeapi string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "webpages")
	if err == nil {
		defer os.RemoveAll(dir)
		fakeapi = filepath.Join(dir, "fakeapi")
		var out []byte
		if out, err = exec.Command("go", "build", "-C", "../..", "-o", fakeapi, "./cmd/fakeapi").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// chromium returns the path of a Chromium.
func chromium(t *testing.T) string {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no Chromium is installed")
	}
	t.Skip("no Chromium is installed")
	return ""
}

// A site is the site of the attacker. Its page is at any name below "example". When
// the page asks for /rebind, the site's address becomes that of a target, as if its
// DNS server had changed it.
type site struct {
	*httptest.Server
	target  string
	rebound atomic.Bool
	reports chan map[string]string
}

// newSite starts a site. target is the host and the port that the site rebinds to,
// "" for none.
func newSite(t *testing.T, secure bool, target string) *site {
	t.Helper()
	s := &site{target: target, reports: make(chan map[string]string, 1)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.Server = &httptest.Server{Listener: &rebinder{listener, s}, Config: &http.Server{Handler: s}}
	if secure {
		s.Server.StartTLS()
	} else {
		s.Server.Start()
	}
	t.Cleanup(s.Server.Close)
	return s
}

// url returns a URL of the site by its DNS name.
func (s *site) url(path string) string {
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	scheme, _, _ := strings.Cut(s.Server.URL, ":")
	return scheme + "://evil.example:" + port + path
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.rebound.Load() { // the browser opened this connection ahead
		proxy := httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: s.target})
			p.Out.Host = p.In.Host
		}}
		proxy.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Connection", "close") // each request takes the newest address
	switch r.URL.Path {
	case "/":
		w.Header().Set("Content-Type", "text/html")
		w.Write(page)
	case "/rebind":
		s.rebound.Store(s.target != "")
	case "/report":
		var report map[string]string
		if err := json.NewDecoder(r.Body).Decode(&report); err == nil {
			s.reports <- report
		}
	default:
		http.NotFound(w, r)
	}
}

// A rebinder is the listener of a site.
type rebinder struct {
	net.Listener
	site *site
}

// Accept returns a connection to the site. Once it is rebound, connections are
// forwarded to its target.
func (l *rebinder) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || !l.site.rebound.Load() {
			return c, err
		}
		go forward(c, l.site.target)
	}
}

func forward(c net.Conn, target string) {
	defer c.Close()
	other, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer other.Close()
	go func() {
		io.Copy(other, c)
		other.Close()
	}()
	io.Copy(c, other)
}

// visit opens the page of a site, which attacks target, "" for its own origin. It
// returns what the page reports to another site.
func visit(t *testing.T, s *site, target string) map[string]string {
	t.Helper()
	// A page of an https site may not report to an http site.
	collector := newSite(t, strings.HasPrefix(s.Server.URL, "https:"), "")
	query := url.Values{"target": {target}, "report": {collector.url("/report")}}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, chromium(t),
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-port=0",
		"--ignore-certificate-errors", "--host-resolver-rules=MAP *.example 127.0.0.1",
		"--user-data-dir="+profile(t), s.url("/?"+query.Encode()))
	ended := make(chan error, 1)
	require.NoError(t, cmd.Start())
	go func() { ended <- cmd.Wait() }()
	var report map[string]string
	select {
	case report = <-collector.reports:
		cancel()
		<-ended
	case err := <-ended:
		cancel()
		t.Fatal("Chromium has ended before the report: ", err)
	}
	for name, text := range report {
		t.Logf("%s: %.200s", name, text)
	}
	return report
}

// profile returns a folder for the state of a Chromium. Its processes may write there
// until a moment after the first one has ended.
func profile(t *testing.T) string {
	dir, err := os.MkdirTemp("", "webpages-")
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.Eventually(t, func() bool { return os.RemoveAll(dir) == nil }, 10*time.Second, 10*time.Millisecond, "the folder of Chromium is removed")
	})
	return dir
}

// start starts a command of fakeapi and returns its URL. stop ends it.
func start(t *testing.T, args ...string) (address string, stop func()) {
	t.Helper()
	cmd := exec.Command(fakeapi, args...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cmd.Process.Signal(os.Interrupt)
			cmd.Wait()
		})
	}
	t.Cleanup(stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line), stop
}

// serve starts a server with a Secret and a ConfigMap.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	objects := filepath.Join(t.TempDir(), "objects.yaml")
	require.NoError(t, os.WriteFile(objects, []byte(`
{apiVersion: v1, kind: Secret, metadata: {namespace: default, name: s}, stringData: {password: hunter2}, data: {password: aHVudGVyMg==}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: kept}}
`), 0o600))
	address, _ := start(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--objects", objects}, args...)...)
	return address
}

// configMaps returns the names of the ConfigMaps on a server.
func configMaps(t *testing.T, address string) (names []string) {
	t.Helper()
	resp, err := http.Get(address + "/api/v1/namespaces/default/configmaps")
	require.NoError(t, err)
	defer resp.Body.Close()
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&list))
	for _, o := range list.Items {
		names = append(names, o.Metadata.Name)
	}
	return names
}

// assertRefused checks that a page has learnt nothing.
func assertRefused(t *testing.T, report map[string]string) {
	t.Helper()
	assert.NotEmpty(t, report)
	for name, text := range report {
		assert.NotContains(t, text, "aHVudGVyMg", name)
		assert.NotRegexp(t, "^(2|message)", text, name)
	}
}

// A page of another origin can neither read from a server nor change it.
func TestServeCrossSite(t *testing.T) {
	address := serve(t)
	assertRefused(t, visit(t, newSite(t, false, ""), address))
	assert.Equal(t, []string{"kept"}, configMaps(t, address))
}

// A page that makes its own name resolve to the server's address can neither.
func TestServeRebinding(t *testing.T) {
	address := serve(t)
	report := visit(t, newSite(t, false, strings.TrimPrefix(address, "http://")), "")
	assertRefused(t, report)
	assert.Regexp(t, `^403 \{\s*"kind": "Status"`, report["read"])
	assert.Contains(t, report["read"], "--allowed-hosts")
	assert.Equal(t, []string{"kept"}, configMaps(t, address))
}

// The page does what it should: it attacks a server that allows its name.
func TestRebindingWithAllowedHost(t *testing.T) {
	address := serve(t, "--allowed-hosts", "evil.example")
	report := visit(t, newSite(t, false, strings.TrimPrefix(address, "http://")), "")
	assert.Contains(t, report["read"], "aHVudGVyMg")
	assert.Regexp(t, "^201", report["create as JSON"])
	assert.NotEqual(t, []string{"kept"}, configMaps(t, address))
}

// Without checks the requests of a page of another origin reach a server.
func TestCrossSiteWithoutChecks(t *testing.T) {
	var mu sync.Mutex
	var got []string
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type"))
	}))
	defer open.Close()
	visit(t, newSite(t, false, ""), open.URL)
	mu.Lock()
	defer mu.Unlock()
	assert.Contains(t, got, "POST /debug/fakeapi/reset ")
	assert.Contains(t, got, "POST /api/v1/namespaces/default/configmaps ")
	assert.Contains(t, got, "POST /debug/fakeapi/objects text/plain")
	assert.Contains(t, got, "POST /debug/fakeapi/reset application/x-www-form-urlencoded")
	assert.Contains(t, got, "GET /api/v1/namespaces/default/pods/a/exec ")
}

// No page can use the proxy of record, whose clients act with the credentials of the
// user.
func TestRecord(t *testing.T) {
	for _, row := range []struct {
		name   string
		rebind bool
		args   []string
	}{
		{"cross-site", false, nil},
		{"rebinding", true, nil},
		{"rebinding, any name allowed", true, []string{"--allowed-hosts", "*"}}, // the token is missing
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			config, out := filepath.Join(dir, "config"), filepath.Join(dir, "out.yaml")
			real := serve(t, "--kubeconfig", config)
			address, stop := start(t, append([]string{"record", "--kubeconfig", config, "--proxy-kubeconfig", filepath.Join(dir, "proxy"), "--out", out}, row.args...)...)
			if row.rebind {
				assertRefused(t, visit(t, newSite(t, true, strings.TrimPrefix(address, "https://")), ""))
			} else {
				assertRefused(t, visit(t, newSite(t, false, ""), address))
			}
			stop()
			f, err := scenarios.Load(out)
			require.NoError(t, err)
			assert.Empty(t, f.Scenarios[0].Steps, "nothing has reached the cluster")
			assert.Equal(t, []string{"kept"}, configMaps(t, real))
		})
	}
}
