package crossorigin_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/crossorigin"
)

// request returns a request that came through a connection to local, "" for none,
// to a server that listens on addr.
func request(method, local, addr string, certificate *x509.Certificate) *http.Request {
	r := httptest.NewRequest(method, "/", nil)
	ctx := r.Context()
	if local != "" {
		ctx = context.WithValue(ctx, http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.ParseIP(local), Port: 8080}))
	}
	own := &http.Server{Addr: addr}
	if certificate != nil {
		own.TLSConfig = &tls.Config{Certificates: []tls.Certificate{{Leaf: certificate}}}
	}
	return r.WithContext(context.WithValue(ctx, http.ServerContextKey, own))
}

func TestCheckHost(t *testing.T) {
	certificate := &x509.Certificate{DNSNames: []string{"api.corp.example", "*.dev.example"}}
	for _, row := range []struct {
		name, host, local, addr string
		names                   []string
		refused                 bool
	}{
		{name: "address", host: "127.0.0.1:8080", local: "127.0.0.1", addr: "127.0.0.1:8080"},
		{name: "another address", host: "192.168.1.7:8080", local: "127.0.0.1", addr: "127.0.0.1:8080"},
		{name: "IPv6", host: "[::1]:8080", local: "::1", addr: "[::1]:8080"},
		{name: "IPv6 without a port", host: "[::1]", local: "::1", addr: "[::1]:8080"},
		{name: "localhost", host: "LocalHost:8080", local: "127.0.0.1"},
		{name: "localhost without a port", host: "localhost.", local: "127.0.0.1"},
		{name: "below localhost", host: "a.localhost:8080", local: "127.0.0.1"},
		{name: "service", host: "kubernetes.default.svc:443", local: "127.0.0.1"},
		{name: "no host", host: "", local: "127.0.0.1"},
		{name: "name of the certificate", host: "api.corp.example", local: "127.0.0.1"},
		{name: "wildcard of the certificate", host: "a.dev.example:8080", local: "127.0.0.1"},
		{name: "allowed name", host: "Cluster-A:8080", local: "127.0.0.1", names: []string{"b", "cluster-a"}},
		{name: "any name", host: "evil.example", local: "127.0.0.1", names: []string{crossorigin.AnyHost}},
		{name: "not loopback", host: "evil.example", local: "192.168.1.7"},
		{name: "listens on all addresses", host: "a.example", local: "127.0.0.1", addr: "[::]:8080"},
		{name: "listens on all addresses, by port", host: "a.example", local: "127.0.0.1", addr: ":8080"},
		{name: "no connection", host: "a.example"},

		{name: "foreign", host: "evil.example:8080", local: "127.0.0.1", refused: true},
		{name: "foreign, IPv6", host: "evil.example:8080", local: "::1", refused: true},
		{name: "foreign, with a listener", host: "evil.example:8080", local: "127.0.0.1", addr: "127.0.0.1:8080", refused: true},
		{name: "foreign, other names allowed", host: "evil.example", local: "127.0.0.1", names: []string{"good.example"}, refused: true},
		{name: "begins with localhost", host: "localhost.evil.example", local: "127.0.0.1", refused: true},
		{name: "ends with localhost", host: "evillocalhost", local: "127.0.0.1", refused: true},
		{name: "begins with an address", host: "127.0.0.1.evil.example", local: "127.0.0.1", refused: true},
		{name: "ends with a service", host: "evil.kubernetes.default.svc", local: "127.0.0.1", refused: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := request(http.MethodGet, row.local, row.addr, certificate)
			r.Host = row.host
			err := crossorigin.Check(r, row.names, nil)
			if row.refused {
				assert.ErrorContains(t, err, "--allowed-hosts")
			} else {
				assert.NoError(t, err)
			}
		})
	}
}

func TestCheckOrigin(t *testing.T) {
	for _, row := range []struct {
		name, method string
		header       map[string]string
		refused      string
	}{
		{"no browser", "POST", nil, ""},
		{"own page", "POST", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost:8080"}, ""},
		{"own page through a proxy", "POST", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost:3000"}, ""},
		{"typed URL", "GET", map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, ""},
		{"own origin only", "POST", map[string]string{"Origin": "http://LOCALHOST:8080"}, ""},
		{"link", "GET", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, ""},

		{"frame", "GET", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, "another site (Sec-Fetch-Site: cross-site)"},
		{"form", "POST", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Origin": "null"}, `the origin "null"`},
		{"fetch", "POST", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Origin": "https://evil.example"}, `the origin "https://evil.example"`},
		{"another port", "GET", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, "another site (Sec-Fetch-Site: same-site)"},
		{"older browser", "POST", map[string]string{"Origin": "https://evil.example"}, `the origin "https://evil.example"`},
		{"older browser, no origin", "POST", map[string]string{"Origin": "null"}, `the origin "null"`},
		{"older browser, another port", "POST", map[string]string{"Origin": "http://localhost:3000"}, `the origin "http://localhost:3000"`},
		{"bearer token", "GET", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example", "Authorization": "bearer t"}, ""},
		{"password", "GET", map[string]string{"Origin": "https://evil.example", "Authorization": "Basic dDp0"}, `the origin "https://evil.example"`},
		{"WebSocket", "GET", map[string]string{"Upgrade": "websocket", "Connection": "Upgrade", "Origin": "https://evil.example"}, `the origin "https://evil.example"`},
		{"invalid origin", "GET", map[string]string{"Origin": ":"}, `the origin ":"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := request(row.method, "127.0.0.1", "", nil)
			r.Host = "localhost:8080"
			for k, v := range row.header {
				r.Header.Set(k, v)
			}
			err := crossorigin.Check(r, []string{crossorigin.AnyHost}, nil)
			if row.refused != "" {
				assert.ErrorContains(t, err, row.refused)
			} else {
				assert.NoError(t, err)
			}
		})
	}
}

func TestHandler(t *testing.T) {
	h := crossorigin.Handler(http.NotFoundHandler(), "a.example")
	for host, want := range map[string]int{"a.example": http.StatusNotFound, "b.example": http.StatusForbidden} {
		r, w := request(http.MethodGet, "127.0.0.1", "", nil), httptest.NewRecorder()
		r.Host = host
		h.ServeHTTP(w, r)
		assert.Equal(t, want, w.Code)
		if want == http.StatusForbidden {
			var status map[string]any
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &status))
			assert.Equal(t, "Status", status["kind"])
			assert.Equal(t, "Forbidden", status["reason"])
			assert.Contains(t, status["message"], `"b.example" is not one of its names`)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:0": true, "127.8.8.8:1": true, "[::1]:0": true, "localhost:0": true, "[::ffff:127.0.0.1]:0": true,
		":8080": false, "0.0.0.0:8080": false, "[::]:8080": false, "192.168.1.7:0": false, "nowhere": false, "": false,
	} {
		assert.Equal(t, want, crossorigin.IsLoopback(addr), addr)
	}
}
