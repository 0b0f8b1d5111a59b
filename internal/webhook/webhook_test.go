//go:build go1.24

package webhook_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/webhook"
)

// serve starts a webhook whose path selects its response.
func serve(t *testing.T) (srv *httptest.Server, bundle string) {
	srv = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/echo":
			_, _ = io.Copy(w, r.Body)
		case "/timeout":
			_, _ = io.WriteString(w, r.URL.Query().Get("timeout"))
		case "/moved":
			http.Redirect(w, r, "/echo", http.StatusTemporaryRedirect)
		case "/json":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"no":true}`)
		case "/status":
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"kind":"Status","status":"Failure","message":"never"}`)
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
		case "/type":
			w.Header().Set("Content-Type", ";;")
			_, _ = io.WriteString(w, "{}")
		default:
			http.Error(w, "no", http.StatusInternalServerError)
		}
	}))
	t.Cleanup(srv.Close)
	return srv, base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
}

func TestPost(t *testing.T) {
	srv, bundle := serve(t)
	c := &webhook.Client{Services: map[string]string{"ns/example": srv.Listener.Addr().String()}}
	for _, tt := range []struct {
		name    string
		config  map[string]any
		want    string
		failure string // a part of the error; "" for a success
	}{
		{"url", map[string]any{"url": srv.URL + "/echo", "caBundle": bundle}, "{}", ""},
		{"timeout", map[string]any{"url": srv.URL + "/timeout", "caBundle": bundle}, "5s", ""},
		{"failure", map[string]any{"url": srv.URL + "/fail", "caBundle": bundle}, "", `an error on the server ("no") has prevented the request from succeeding`},
		{"redirect", map[string]any{"url": srv.URL + "/moved", "caBundle": bundle}, "{}", ""},
		{"failure with JSON", map[string]any{"url": srv.URL + "/json", "caBundle": bundle}, "", `an error on the server ("unknown") has prevented the request from succeeding`},
		{"failure with a Status", map[string]any{"url": srv.URL + "/status", "caBundle": bundle}, "", "never"},
		{"no body", map[string]any{"url": srv.URL + "/empty", "caBundle": bundle}, "", "0-length response with status code: 204 and content type: application/json"},
		{"wrong Content-Type", map[string]any{"url": srv.URL + "/type", "caBundle": bundle}, "", "Internal error occurred: mime: no media type"},
		{"not trusted", map[string]any{"url": srv.URL + "/echo"}, "", "tls: failed to verify certificate: x509: certificate signed by unknown authority"},
		{"invalid bundle", map[string]any{"url": srv.URL + "/echo", "caBundle": "AAAA"}, "", "unable to load root certificates: unable to parse bytes as PEM block"},
		{"unreachable", map[string]any{"url": "https://127.0.0.1:1/x"}, "", `Post "https://127.0.0.1:1/x?timeout=5s": dial tcp 127.0.0.1:1: connect: connection refused`},
		{"unknown service", map[string]any{"service": map[string]any{"name": "s", "namespace": "n", "port": int64(443), "path": "/p"}}, "", `Post "https://s.n.svc:443/p?timeout=5s": service "s" not found`},
		{"service whose name is not in the certificate", map[string]any{"caBundle": bundle, "service": map[string]any{"name": "example", "namespace": "ns", "port": int64(443)}}, "", "not example.ns.svc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body, err := c.Post(t.Context(), tt.config, nil, 5*time.Second, []byte("{}"))
			if tt.failure != "" {
				assert.ErrorContains(t, err, tt.failure)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(body))
		})
	}
	t.Run("a request with less time", func(t *testing.T) {
		manual := clock.NewManual(time.Now())
		ctx, cancel := manual.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		manual.Advance(time.Millisecond)
		c := &webhook.Client{Clock: manual}
		body, err := c.Post(ctx, map[string]any{"url": srv.URL + "/timeout", "caBundle": bundle}, nil, 5*time.Second, []byte("{}"))
		require.NoError(t, err)
		assert.Equal(t, "3s", string(body))
	})
	t.Run("too slow", func(t *testing.T) {
		manual := clock.NewManual(time.Now())
		c := &webhook.Client{Clock: manual}
		called := make(chan struct{})
		slow := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			close(called)
			<-r.Context().Done()
			panic(http.ErrAbortHandler) // to return would answer, and the client may still read
		}))
		defer slow.Close()
		go func() {
			<-called
			manual.Advance(5 * time.Second)
		}()
		bundle := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: slow.Certificate().Raw}))
		_, err := c.Post(t.Context(), map[string]any{"url": slow.URL, "caBundle": bundle}, nil, 5*time.Second, nil)
		assert.ErrorContains(t, err, "context deadline exceeded")
	})
}

// TestPostWithoutHandshake calls a webhook that accepts connections and does not
// answer the TLS handshake. Close closes the connection, which a later call could use.
func TestPostWithoutHandshake(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			ended <- err
			return
		}
		defer conn.Close()
		cancel()
		_, err = io.Copy(io.Discard, conn) // returns when the client closes the connection
		ended <- err
	}()
	c := &webhook.Client{}
	_, err = c.Post(ctx, map[string]any{"url": "https://" + l.Addr().String()}, nil, time.Hour, nil)
	assert.ErrorIs(t, err, context.Canceled)
	c.Close()
	assert.NoError(t, <-ended)
}

// A Backend has the webhooks of Services without an address. The first call waits until
// it listens, later ones do not.
func TestBackend(t *testing.T) {
	srv, bundle := serve(t)
	addr := srv.Listener.Addr().String()
	cert := srv.TLS.Certificates
	srv.Close()
	called := make(chan struct{})
	c := &webhook.Client{Services: map[string]string{"ns/other": "127.0.0.1:1"}, Wrap: func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			select {
			case <-called:
			default:
				close(called)
			}
			return next.RoundTrip(r)
		})
	}}
	c.SetBackend(&webhook.Backend{Addr: addr})
	call := func(service string) (string, error) {
		body, err := c.Post(t.Context(), map[string]any{"caBundle": bundle, "service": map[string]any{"name": service, "namespace": "com", "path": "/echo"}}, nil, 5*time.Second, []byte("{}"))
		return string(body), err
	}
	listening := make(chan *http.Server, 1)
	go func() {
		<-called
		l, err := tls.Listen("tcp", addr, &tls.Config{Certificates: cert})
		assert.NoError(t, err)
		s := &http.Server{Handler: srv.Config.Handler}
		listening <- s
		_ = s.Serve(l)
	}()
	_, err := call("example")
	assert.ErrorContains(t, err, "not example.com.svc", "the backend is called by the name of the Service")
	require.NoError(t, (<-listening).Close())
	_, err = call("example")
	assert.ErrorContains(t, err, "connection refused")

	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) })
	c.SetBackend(&webhook.Backend{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w.Result(), nil
	})})
	body, err := call("example")
	require.NoError(t, err)
	assert.Equal(t, "example.com.svc:443", body)
	_, err = c.Post(t.Context(), map[string]any{"service": map[string]any{"name": "other", "namespace": "ns"}}, nil, 5*time.Second, nil)
	assert.ErrorContains(t, err, "connection refused", "a Service with an address of its own")
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestStatusError(t *testing.T) {
	for code, want := range map[int]string{
		400: "the server rejected our request for an unknown reason",
		401: "the server has asked for the client to provide credentials",
		403: "no",
		404: "the server could not find the requested resource",
		406: "no",
		405: "the server does not allow this method on the requested resource",
		409: "the server reported a conflict",
		418: "the server responded with the status code 418 but did not return more information",
		422: "the server rejected our request due to an error in our request",
		429: "the server has received too many requests and has asked us to try again later",
		502: `an error on the server ("no") has prevented the request from succeeding`,
		503: "the server is currently unable to handle the request",
		504: "the server was unable to return a response in the time allotted, but may still be processing the request",
	} {
		assert.EqualError(t, &webhook.StatusError{Code: code, Body: "no"}, want)
	}
}
