//go:build go1.25

package httptest_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/httptest"
)

func newLog(w io.Writer) *log.Logger { return log.New(w, "", 0) }

func ok(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }

// watch streams one line and then waits for its context.
func watch(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, "begin\n")
	w.(http.Flusher).Flush()
	<-r.Context().Done()
	io.WriteString(w, "end\n")
}

func TestShutdown(t *testing.T) {
	for _, inMemory := range []bool{false, true} {
		t.Run(fmt.Sprintf("in memory: %t", inMemory), func(t *testing.T) {
			started, finish := make(chan struct{}), make(chan struct{})
			s, err := httptest.Start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(started)
				<-finish
				fmt.Fprint(w, r.Context().Err())
			}), httptest.Options{InMemory: inMemory})
			require.NoError(t, err)
			defer s.Close()
			answers := make(chan string)
			go func() {
				defer close(answers)
				resp, err := s.Client().Get(s.URL)
				if assert.NoError(t, err) {
					text, _ := io.ReadAll(resp.Body)
					resp.Body.Close()
					answers <- string(text)
				}
			}()
			<-started
			ended, end := context.WithCancel(context.Background())
			end()
			assert.ErrorIs(t, s.Shutdown(ended), context.Canceled)
			_, err = s.Client().Get(s.URL)
			assert.Error(t, err)
			close(finish)
			assert.NoError(t, s.Shutdown(context.Background()))
			assert.Equal(t, "<nil>", <-answers)
		})
	}
}

func TestProtocols(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }
	onEveryTransport(t, handler, func(t *testing.T, s *httptest.Server, c *http.Client) {
		_, proto := do(t, c, "GET", s.URL, nil)
		want := "HTTP/1.1"
		if strings.HasSuffix(t.Name(), "http2") || strings.HasSuffix(t.Name(), "h2c") {
			want = "HTTP/2.0"
		}
		assert.Equal(t, want, proto)
	})
}

func TestCloseEndsStreamsCleanly(t *testing.T) {
	onEveryTransport(t, watch, func(t *testing.T, s *httptest.Server, c *http.Client) {
		var bodies []io.ReadCloser
		for range 10 {
			resp, err := c.Get(s.URL)
			require.NoError(t, err)
			defer resp.Body.Close()
			bodies = append(bodies, resp.Body)
		}
		var closing sync.WaitGroup
		for range 3 {
			closing.Go(s.Close)
		}
		for _, b := range bodies {
			data, err := io.ReadAll(b)
			assert.NoError(t, err)
			assert.Equal(t, "begin\nend\n", string(data))
		}
		closing.Wait()
		s.Close()
		_, err := c.Get(s.URL)
		assert.Error(t, err)
	})
}

func TestCloseWithClientThatDoesNotRead(t *testing.T) {
	returned := make(chan error, 1)
	handler := func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				returned <- err
				return
			}
		}
	}
	onEveryTransport(t, handler, func(t *testing.T, s *httptest.Server, c *http.Client) {
		resp, err := c.Get(s.URL)
		require.NoError(t, err)
		defer resp.Body.Close()
		s.Close()
		assert.Error(t, <-returned)
		_, err = io.Copy(io.Discard, resp.Body)
		assert.Error(t, err)
	})
}

func TestCloseWithIncompleteRequests(t *testing.T) {
	s, err := httptest.Start(http.HandlerFunc(ok), httptest.Options{})
	require.NoError(t, err)
	for _, sent := range []string{"", "GET / HT", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		require.NoError(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, sent)
		require.NoError(t, err)
	}
	s.Close()
}

func TestCloseInBubbleWithClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := httptest.Start(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Write(make([]byte, 1<<20))
		}), httptest.Options{InMemory: true})
		require.NoError(t, err)
		resp, err := s.Client().Get(s.URL)
		require.NoError(t, err)
		s.Close()
		data, err := io.ReadAll(resp.Body)
		assert.Len(t, data, 64<<10)
		assert.Error(t, err)
	})
}

func TestNoGoroutineLeaks(t *testing.T) {
	onEveryTransport(t, watch, func(*testing.T, *httptest.Server, *http.Client) {}) // starts goroutines that stay
	settle := func(want int) {
		for range 1_000_000 {
			if runtime.NumGoroutine() <= want {
				return
			}
			runtime.Gosched()
		}
		var stacks strings.Builder
		pprof.Lookup("goroutine").WriteTo(&stacks, 1)
		t.Fatalf("more than %d goroutines:\n%s", want, stacks.String())
	}
	before := runtime.NumGoroutine()
	for _, o := range []httptest.Options{{}, {TLS: true}, {InMemory: true}} {
		s, err := httptest.Start(http.HandlerFunc(watch), o)
		require.NoError(t, err)
		var unread []io.Closer
		for _, transport := range []http.RoundTripper{s.Transport(), s.InMemory()} {
			c := &http.Client{Transport: transport}
			for i := range 5 {
				resp, err := c.Get(s.URL)
				require.NoError(t, err)
				if i%2 == 0 {
					resp.Body.Close()
				} else {
					unread = append(unread, resp.Body)
				}
			}
		}
		s.Close()
		for _, body := range unread { // net/http's client keeps goroutines of unread bodies
			body.Close()
		}
		settle(before)
	}
}

func TestManyServers(t *testing.T) {
	servers := make([]*httptest.Server, 1000)
	var starting sync.WaitGroup
	for i := range servers {
		starting.Go(func() {
			s, err := httptest.Start(http.HandlerFunc(ok), httptest.Options{InMemory: i%2 == 0, TLS: i%3 == 0})
			if assert.NoError(t, err) {
				servers[i] = s
			}
		})
	}
	starting.Wait()
	for i, s := range servers {
		if i%100 < 2 {
			_, body := do(t, s.Client(), "GET", s.URL, nil)
			assert.Equal(t, "ok", body)
		}
		s.Close()
	}
}

func TestAddr(t *testing.T) {
	for _, tt := range []struct{ addr, prefix string }{
		{"", "http://127.0.0.1:"},
		{":0", "http://127.0.0.1:"},
		{"0.0.0.0:0", "http://127.0.0.1:"},
		{"localhost:0", "http://127.0.0.1:"},
	} {
		t.Run(tt.addr, func(t *testing.T) {
			s, err := httptest.Start(http.HandlerFunc(ok), httptest.Options{Addr: tt.addr})
			require.NoError(t, err)
			defer s.Close()
			assert.True(t, strings.HasPrefix(s.URL, tt.prefix), s.URL)
			_, body := do(t, s.Client(), "GET", s.URL, nil)
			assert.Equal(t, "ok", body)

			_, err = httptest.Start(http.HandlerFunc(ok), httptest.Options{Addr: strings.TrimPrefix(s.URL, "http://")})
			assert.Error(t, err, "the address is taken")
		})
	}
}

func TestTLS(t *testing.T) {
	s, err := httptest.Start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if certs := r.TLS.PeerCertificates; len(certs) > 0 {
			pool := x509.NewCertPool()
			pool.AppendCertsFromPEM(httptest.ClientCA())
			_, err := certs[0].Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
			assert.NoError(t, err)
			io.WriteString(w, certs[0].Subject.CommonName+" "+strings.Join(certs[0].Subject.Organization, ","))
		}
	}), httptest.Options{TLS: true, Names: []string{"api.example.com", "192.0.2.1"}})
	require.NoError(t, err)
	defer s.Close()

	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(s.CACertificate()))
	for _, name := range []string{"localhost", "127.0.0.1", "::1", "api.example.com", "192.0.2.1"} {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(s.URL, "https://"), &tls.Config{RootCAs: pool, ServerName: name})
		if assert.NoError(t, err, name) {
			conn.Close()
		}
	}
	_, err = tls.Dial("tcp", strings.TrimPrefix(s.URL, "https://"), &tls.Config{RootCAs: pool, ServerName: "other"})
	assert.Error(t, err)

	_, body := do(t, s.Client(), "GET", s.URL, nil)
	assert.Empty(t, body, "no client certificate")

	certPEM, keyPEM, err := httptest.IssueClient("jane", []string{"dev", "ops"})
	require.NoError(t, err)
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	require.NoError(t, err)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}}
	defer transport.CloseIdleConnections()
	_, body = do(t, &http.Client{Transport: transport}, "GET", s.URL, nil)
	assert.Equal(t, "jane dev,ops", body)
}

// A handshake has a version and a cipher suite of the Options, with a replaced certificate too.
func TestTLSVersions(t *testing.T) {
	const gcm, cbc = tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA
	for _, tt := range []struct {
		name    string
		options httptest.Options
		client  *tls.Config
		err     string
	}{
		{"default", httptest.Options{}, &tls.Config{MaxVersion: tls.VersionTLS12}, ""},
		{"older than the default", httptest.Options{}, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, "protocol version not supported"},
		{"older", httptest.Options{MinVersion: tls.VersionTLS13}, &tls.Config{MaxVersion: tls.VersionTLS12}, "protocol version not supported"},
		{"old enough", httptest.Options{MinVersion: tls.VersionTLS10}, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, ""},
		{"cipher suite", httptest.Options{CipherSuites: []uint16{gcm}}, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{gcm}}, ""},
		{"other cipher suite", httptest.Options{CipherSuites: []uint16{gcm}}, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{cbc}}, "handshake failure"},
		{"cipher suites of TLS 1.3", httptest.Options{CipherSuites: []uint16{gcm}}, &tls.Config{MinVersion: tls.VersionTLS13}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.options.TLS = true
			srv, err := httptest.Start(http.HandlerFunc(ok), tt.options)
			require.NoError(t, err)
			defer srv.Close()
			require.NoError(t, srv.SetCertificates(httptest.Certificates{}))
			tt.client.InsecureSkipVerify = true
			conn, err := tls.Dial("tcp", strings.TrimPrefix(srv.URL, "https://"), tt.client)
			if tt.err != "" {
				assert.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			conn.Close()
		})
	}
	_, err := httptest.Start(http.HandlerFunc(ok), httptest.Options{TLS: true, CipherSuites: []uint16{cbc}})
	assert.ErrorContains(t, err, "httptest: error configuring http2: http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 cipher")
}

func TestCertificateErrors(t *testing.T) {
	_, err := httptest.Start(http.HandlerFunc(ok), httptest.Options{TLS: true, Names: []string{"é"}})
	assert.Error(t, err)
	_, _, err = httptest.IssueClient("\xff", nil)
	assert.Error(t, err)
}

func TestCertDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	cert, key := filepath.Join(dir, "apiserver.crt"), filepath.Join(dir, "apiserver.key")
	start := func() (*httptest.Server, error) {
		return httptest.Start(http.HandlerFunc(ok), httptest.Options{TLS: true, CertDir: dir})
	}
	var written []byte
	for range 2 { // first written, then read
		s, err := start()
		require.NoError(t, err)
		_, body := do(t, s.Client(), "GET", s.URL, nil)
		assert.Equal(t, "ok", body)
		s.Close()

		data, err := os.ReadFile(cert)
		require.NoError(t, err)
		if written != nil {
			assert.Equal(t, written, data)
			assert.Equal(t, data, s.CACertificate())
		}
		written = data
		info, err := os.Stat(key)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}

	t.Run("certificate without CA", func(t *testing.T) {
		leaf, _ := pem.Decode(written)
		require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(leaf), 0o644))
		s, err := start()
		require.NoError(t, err)
		defer s.Close()
		_, body := do(t, s.Client(), "GET", s.URL, nil)
		assert.Equal(t, "ok", body)
	})
	t.Run("garbage", func(t *testing.T) {
		require.NoError(t, os.WriteFile(cert, []byte("garbage"), 0o644))
		_, err := start()
		assert.ErrorContains(t, err, cert)
	})
	t.Run("key only", func(t *testing.T) {
		require.NoError(t, os.Remove(cert))
		_, err := start()
		assert.ErrorIs(t, err, os.ErrNotExist)
		assert.ErrorContains(t, err, "pair")
	})
}

func TestCACertificate(t *testing.T) {
	s, err := httptest.Start(http.HandlerFunc(ok), httptest.Options{})
	require.NoError(t, err)
	defer s.Close()
	assert.Nil(t, s.CACertificate())
}

func BenchmarkStartClose(b *testing.B) {
	for _, bb := range []struct {
		name    string
		options httptest.Options
	}{
		{"memory", httptest.Options{InMemory: true}},
		{"http", httptest.Options{}},
		{"https", httptest.Options{TLS: true}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := httptest.Start(http.HandlerFunc(ok), bb.options)
				if err != nil {
					b.Fatal(err)
				}
				s.Close()
			}
		})
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	for _, bb := range []struct {
		name    string
		options httptest.Options
	}{
		{"memory", httptest.Options{InMemory: true}},
		{"immediate", immediate},
		{"http", httptest.Options{}},
		{"https", httptest.Options{TLS: true}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s, err := httptest.Start(http.HandlerFunc(ok), bb.options)
			require.NoError(b, err)
			defer s.Close()
			c := s.Client()
			b.ReportAllocs()
			for b.Loop() {
				resp, err := c.Get(s.URL)
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}

func BenchmarkStream(b *testing.B) {
	const size = 8 << 20
	chunk := make([]byte, 2600)
	for _, bb := range []struct {
		name    string
		options httptest.Options
	}{
		{"memory", httptest.Options{InMemory: true}},
		{"http", httptest.Options{}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s, err := httptest.Start(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for n := 0; n < size; n += len(chunk) {
					w.Write(chunk)
				}
			}), bb.options)
			require.NoError(b, err)
			defer s.Close()
			c := s.Client()
			b.SetBytes(size)
			for b.Loop() {
				resp, err := c.Get(s.URL)
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}
