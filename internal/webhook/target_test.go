//go:build go1.24

package webhook_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	kubetest "github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/webhook"
)

// A hook is a webhook that answers "{}", with the requests and the connections that it had.
type hook struct {
	*httptest.Server
	bundle string

	mu       sync.Mutex // guards the fields below
	requests []string
	states   map[net.Conn]http.ConnState
}

// startHook starts a webhook. redirect, if not nil, may answer a request in its place.
func startHook(t *testing.T, redirect func(w http.ResponseWriter, r *http.Request) bool) *hook {
	h := &hook{states: map[net.Conn]http.ConnState{}}
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		h.mu.Lock()
		h.requests = append(h.requests, strings.Join([]string{r.Proto, r.Method, r.RequestURI, string(body)}, " "))
		h.mu.Unlock()
		if redirect == nil || !redirect(w, r) {
			_, _ = io.WriteString(w, "{}")
		}
	}))
	certificate, key, err := kubetest.IssueServer("127.0.0.1", "example.ns.svc")
	require.NoError(t, err)
	pair, err := tls.X509KeyPair(certificate, key)
	require.NoError(t, err)
	h.TLS, h.EnableHTTP2 = &tls.Config{Certificates: []tls.Certificate{pair}}, true
	h.Config.ConnState = func(c net.Conn, s http.ConnState) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.states[c] = s
	}
	h.StartTLS()
	t.Cleanup(h.Close)
	h.bundle = base64.StdEncoding.EncodeToString(kubetest.ClientCA())
	return h
}

// at returns the clientConfig of a path of the webhook.
func (h *hook) at(path string) map[string]any {
	return map[string]any{"url": h.URL + path, "caBundle": h.bundle}
}

// service returns the clientConfig of a path of the Service ns/example.
func (h *hook) service(path string) map[string]any {
	return map[string]any{"caBundle": h.bundle, "service": map[string]any{"name": "example", "namespace": "ns", "path": path}}
}

// take returns the requests since the last call.
func (h *hook) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.requests
	h.requests = nil
	return out
}

// connections returns the number of all connections, and of those that are open.
func (h *hook) connections() (all, open int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.states {
		if s != http.StateClosed {
			open++
		}
	}
	return len(h.states), open
}

func TestPath(t *testing.T) {
	h := startHook(t, nil)
	c := &webhook.Client{}
	defer c.Close()
	for written, want := range map[string]string{
		"":               "/",
		"/":              "/",
		"//validate-x":   "/validate-x",
		"/validate-x/":   "/validate-x",
		"/a//b/../c":     "/a/c",
		"/a/./b":         "/a/b",
		"/..":            "/",
		"/../x":          "/x",
		"/a%2Fb":         "/a/b",
		"/a/%2e%2e/b":    "/b",
		"/a%20b":         "/a%20b",
		"/a;b":           "/a;b",
		"/a:b":           "/a:b",
		"/\u00e9":        "/%C3%A9",
		"/a?query=1#top": "/a",
	} {
		t.Run(written, func(t *testing.T) {
			_, err := c.Post(t.Context(), h.at(written), nil, 5*time.Second, []byte("{}"))
			require.NoError(t, err)
			assert.Equal(t, []string{"HTTP/2.0 POST " + want + "?timeout=5s {}"}, h.take())
		})
	}
}

// net/http.ServeMux redirects a request whose path is not clean: with 301, after which a client
// sends a GET without a body, up to Go 1.25, and with 307 from Go 1.26 on. envtest writes such a
// path for every webhook.
func TestPathOfServeMux(t *testing.T) {
	for name, code := range map[string]int{"Go 1.23": 301, "Go 1.24": 301, "Go 1.25": 301, "Go 1.26": 307} {
		t.Run(name, func(t *testing.T) {
			h := startHook(t, func(w http.ResponseWriter, r *http.Request) bool {
				clean := path.Clean(r.URL.Path)
				if clean != r.URL.Path {
					http.Redirect(w, r, clean, code)
				}
				return clean != r.URL.Path
			})
			c := &webhook.Client{}
			defer c.Close()
			large := strings.Repeat("x", 1<<20)
			_, err := c.Post(t.Context(), h.at("//validate-x"), nil, 5*time.Second, []byte(large))
			require.NoError(t, err)
			assert.Equal(t, []string{"HTTP/2.0 POST /validate-x?timeout=5s " + large}, h.take())
		})
	}
}

func TestConnections(t *testing.T) {
	h := startHook(t, nil)
	c := &webhook.Client{Services: map[string]string{"ns/example": h.Listener.Addr().String()}}
	post := func(config map[string]any) error {
		_, err := c.Post(t.Context(), config, nil, 5*time.Second, nil)
		return err
	}
	for range 3 {
		require.NoError(t, post(h.at("/a")))
	}
	all, open := h.connections()
	assert.Equal(t, []int{1, 1}, []int{all, open}, "calls use one connection")
	assert.Error(t, post(map[string]any{"url": h.URL}), "another trust has connections of its own")

	config := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(config, []byte(`
clusters: [{name: c, cluster: {server: "`+h.URL+`/x//review/?a=b", certificate-authority-data: `+h.bundle+`}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
`), 0o600))
	cluster, err := kubeconfig.Load(t.Context(), config, "")
	require.NoError(t, err)
	r := &webhook.Reviewer{Client: c, Cluster: cluster, Timeout: 30 * time.Second}
	h.take()
	for range 2 {
		assert.NoError(t, r.Review(t.Context(), webhook.Review{}, &struct{}{}))
	}
	assert.Contains(t, h.take()[1], "HTTP/2.0 POST /x/review?timeout=30s ")
	// The server closes that of the other trust when it has read why the handshake failed.
	isOpen := func(n int) func() bool { return func() bool { _, open := h.connections(); return open == n } }
	assert.Eventually(t, isOpen(2), 10*time.Second, time.Millisecond, "reviews use one connection")

	c.Close()
	assert.Eventually(t, isOpen(0), 10*time.Second, time.Millisecond, "Close closes the connections")
	require.NoError(t, post(h.at("/a")), "later calls have a connection each")
	assert.Eventually(t, isOpen(0), 10*time.Second, time.Millisecond)
}

// A call that finds its connection closed is made again by another one.
func TestRestartedWebhook(t *testing.T) {
	for _, http2 := range []bool{true, false} {
		t.Run(fmt.Sprint("HTTP/2 ", http2), func(t *testing.T) {
			h := startHook(t, nil)
			c := &webhook.Client{Services: map[string]string{"ns/example": h.Listener.Addr().String()}}
			defer c.Close()
			config := h.at("")
			if !http2 {
				config = h.service("")
			}
			for range 100 {
				h.CloseClientConnections()
				_, err := c.Post(t.Context(), config, nil, 5*time.Second, []byte("{}"))
				require.NoError(t, err)
			}
		})
	}
}

// Services are called by HTTP/1.1.
func TestServiceConnections(t *testing.T) {
	h := startHook(t, nil)
	c := &webhook.Client{Services: map[string]string{"ns/example": h.Listener.Addr().String()}}
	defer c.Close()
	for range 2 {
		_, err := c.Post(t.Context(), h.service("/a/"), nil, 5*time.Second, nil)
		require.NoError(t, err)
	}
	assert.Equal(t, "HTTP/1.1 POST /a?timeout=5s ", h.take()[1])
	all, _ := h.connections()
	assert.Equal(t, 1, all)
}

func TestRetryAfter(t *testing.T) {
	for _, tt := range []struct {
		name  string
		code  int
		after string
		want  int32 // calls
	}{
		{"overloaded", 429, "1", 11},
		{"unavailable", 503, "0", 11},
		{"no number", 503, "soon", 1},
		{"another failure", 400, "1", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls atomic.Int32
			h := startHook(t, func(w http.ResponseWriter, _ *http.Request) bool {
				calls.Add(1)
				w.Header().Set("Retry-After", tt.after)
				w.WriteHeader(tt.code)
				return true
			})
			c := &webhook.Client{Clock: clock.NewManual(time.Now())}
			defer c.Close()
			_, err := c.Post(t.Context(), h.at(""), nil, 5*time.Second, []byte("{}"))
			var failed *webhook.StatusError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, tt.code, failed.Code)
			assert.Equal(t, tt.want, calls.Load())
		})
	}
	t.Run("the time is over", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := startHook(t, func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(503)
			cancel()
			return true
		})
		c := &webhook.Client{Clock: clock.New()}
		defer c.Close()
		_, err := c.Post(ctx, h.at(""), nil, time.Hour, nil)
		assert.ErrorIs(t, err, context.Canceled)
	})
}
