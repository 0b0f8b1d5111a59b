//go:build go1.25

package httptest_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/httptest"
)

// onEveryTransport runs a test with each transport, so that it checks the in-memory
// transport against net/http.
func onEveryTransport(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, s *httptest.Server, c *http.Client)) {
	for _, tt := range []struct {
		name      string
		options   httptest.Options
		transport func(*httptest.Server) http.RoundTripper
	}{
		{"memory", httptest.Options{InMemory: true}, (*httptest.Server).Transport},
		{"memory beside a listener", httptest.Options{}, (*httptest.Server).InMemory},
		{"http1", httptest.Options{}, (*httptest.Server).Transport},
		{"http2", httptest.Options{TLS: true}, (*httptest.Server).Transport},
		{"h2c", httptest.Options{}, func(*httptest.Server) http.RoundTripper {
			transport := &http.Transport{Protocols: new(http.Protocols)}
			transport.Protocols.SetUnencryptedHTTP2(true)
			return transport
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := httptest.Start(handler, tt.options)
			require.NoError(t, err)
			defer s.Close()
			test(t, s, &http.Client{Transport: tt.transport(s)})
		})
	}
}

// withEveryTransport is onEveryTransport for a handler that does not wait for its client, so that
// the client's goroutine can serve a request, too.
func withEveryTransport(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, s *httptest.Server, c *http.Client)) {
	onEveryTransport(t, handler, test)
	t.Run("memory, immediate", func(t *testing.T) {
		s, err := httptest.Start(handler, immediate)
		require.NoError(t, err)
		defer s.Close()
		test(t, s, s.Client())
	})
}

var immediate = httptest.Options{InMemory: true, Immediate: func(*http.Request) bool { return true }}

func do(t *testing.T, c *http.Client, method, url string, body io.Reader) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, body)
	require.NoError(t, err)
	resp, err := c.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(data)
}

func TestRequest(t *testing.T) {
	var got *http.Request
	var body string
	handler := func(w http.ResponseWriter, r *http.Request) {
		got = r
		data, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		body = string(data)
	}
	withEveryTransport(t, handler, func(t *testing.T, s *httptest.Server, c *http.Client) {
		do(t, c, "PUT", s.URL+"/api/a%2Fb?watch=1&x=%20", strings.NewReader("hello"))
		assert.Equal(t, "PUT", got.Method)
		assert.Equal(t, "/api/a%2Fb?watch=1&x=%20", got.RequestURI)
		assert.Equal(t, "/api/a/b", got.URL.Path)
		assert.Equal(t, "/api/a%2Fb", got.URL.EscapedPath())
		assert.Equal(t, "watch=1&x=%20", got.URL.RawQuery)
		assert.Empty(t, got.URL.Host)
		assert.Equal(t, strings.SplitN(s.URL, "://", 2)[1], got.Host)
		assert.True(t, strings.HasPrefix(got.UserAgent(), "Go-http-client/"))
		assert.Equal(t, "hello", body)
		assert.EqualValues(t, 5, got.ContentLength)
		assert.Equal(t, "5", got.Header.Get("Content-Length"))
		host, _, err := net.SplitHostPort(got.RemoteAddr)
		assert.NoError(t, err)
		assert.Equal(t, "127.0.0.1", host)

		do(t, c, "GET", s.URL, nil)
		assert.Equal(t, "/", got.RequestURI)
		assert.EqualValues(t, 0, got.ContentLength)
		assert.NotNil(t, got.Body)
	})
}

func TestRequestKeepsTheClientsHeader(t *testing.T) {
	s, err := httptest.Start(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		assert.NotContains(t, r.Header, "User-Agent")
		assert.Equal(t, "named", r.Host)
		r.Header.Set("Accept", "changed")
	}), httptest.Options{InMemory: true})
	require.NoError(t, err)
	defer s.Close()
	req, err := http.NewRequest("GET", s.URL, nil)
	require.NoError(t, err)
	req.Host = "named"
	req.Header["User-Agent"] = nil
	req.Header.Set("Accept", "kept")
	_, err = s.InMemory().RoundTrip(req)
	require.NoError(t, err)
	assert.Equal(t, "kept", req.Header.Get("Accept"))
}

func TestResponse(t *testing.T) {
	big := strings.Repeat("x", 300<<10)
	for _, tt := range []struct {
		name    string
		method  string
		handler http.HandlerFunc
		status  int
		length  int64
		header  string // Content-Length
		body    string
	}{
		{"nothing written", "GET", func(http.ResponseWriter, *http.Request) {}, 200, 0, "0", ""},
		{"short", "GET", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }, 200, 2, "2", "ok"},
		{"status", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(404)
			w.WriteHeader(500)
			io.WriteString(w, "no")
		}, 404, 2, "2", "no"},
		{"flushed", "GET", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "o")
			w.(http.Flusher).Flush()
			io.WriteString(w, "k")
		}, 200, -1, "", "ok"},
		{"long", "GET", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, big) }, 200, -1, "", big},
		{"long in pieces", "GET", func(w http.ResponseWriter, _ *http.Request) {
			for range 300 {
				io.WriteString(w, big[:1<<10])
			}
		}, 200, -1, "", big},
		{"declared", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "4")
			w.(http.Flusher).Flush()
			io.WriteString(w, "four")
			if _, err := io.WriteString(w, "more"); err == nil {
				panic("wrote more than declared")
			}
		}, 200, 4, "4", "four"},
		{"head", "HEAD", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }, 200, 2, "2", ""},
		{"no content", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(204)
			if _, err := io.WriteString(w, "x"); !errors.Is(err, http.ErrBodyNotAllowed) {
				panic(err)
			}
		}, 204, 0, "", ""},
		{"headers after the status do not count", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(201)
			w.Header().Set("Content-Length", "7")
		}, 201, 0, "0", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withEveryTransport(t, tt.handler, func(t *testing.T, s *httptest.Server, c *http.Client) {
				resp, body := do(t, c, tt.method, s.URL, nil)
				assert.Equal(t, tt.status, resp.StatusCode)
				assert.Contains(t, resp.Status, http.StatusText(tt.status))
				assert.Equal(t, tt.length, resp.ContentLength)
				assert.Equal(t, tt.header, resp.Header.Get("Content-Length"))
				assert.Equal(t, len(tt.body), len(body))
				assert.Equal(t, tt.body, body)
			})
		})
	}
}

func TestStream(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		assert.NoError(t, control.EnableFullDuplex())
		assert.NoError(t, control.SetWriteDeadline(time.Time{}))
		assert.NoError(t, control.SetReadDeadline(time.Time{}))
		assert.NoError(t, control.Flush())
		lines := bufio.NewScanner(r.Body)
		for lines.Scan() {
			io.WriteString(w, "echo "+lines.Text()+"\n")
			assert.NoError(t, control.Flush())
		}
	}
	onEveryTransport(t, handler, func(t *testing.T, s *httptest.Server, c *http.Client) {
		body, lines := io.Pipe()
		req, err := http.NewRequest("POST", s.URL, body)
		require.NoError(t, err)
		resp, err := c.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		replies := bufio.NewReader(resp.Body)
		for _, word := range []string{"one", "two"} {
			io.WriteString(lines, word+"\n")
			reply, err := replies.ReadString('\n')
			require.NoError(t, err)
			assert.Equal(t, "echo "+word+"\n", reply)
		}
		lines.Close()
		_, err = replies.ReadByte()
		assert.Equal(t, io.EOF, err)
	})
}

func TestClientCancels(t *testing.T) {
	arrived, cancelled := make(chan struct{}, 1), make(chan struct{}, 1)
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/respond" {
			w.(http.Flusher).Flush()
		} else {
			arrived <- struct{}{}
		}
		<-r.Context().Done()
		cancelled <- struct{}{}
	}
	onEveryTransport(t, handler, func(t *testing.T, s *httptest.Server, c *http.Client) {
		t.Run("closes the body", func(t *testing.T) {
			resp, err := c.Get(s.URL + "/respond")
			require.NoError(t, err)
			resp.Body.Close()
			<-cancelled
			_, err = resp.Body.Read(make([]byte, 1))
			assert.Error(t, err)
			assert.NotEqual(t, io.EOF, err)
		})
		t.Run("cancels before the response", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, "GET", s.URL, nil)
			require.NoError(t, err)
			go func() {
				<-arrived
				cancel()
			}()
			_, err = c.Do(req)
			assert.ErrorIs(t, err, context.Canceled)
			<-cancelled
		})
		t.Run("cancels while reading", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/respond", nil)
			require.NoError(t, err)
			resp, err := c.Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			cancel()
			_, err = io.ReadAll(resp.Body)
			assert.ErrorIs(t, err, context.Canceled)
			<-cancelled
		})
	})
}

func TestHandlerPanics(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			io.WriteString(w, "part")
			w.(http.Flusher).Flush()
		}
		panic(http.ErrAbortHandler)
	}
	withEveryTransport(t, handler, func(t *testing.T, s *httptest.Server, c *http.Client) {
		resp, err := c.Get(s.URL)
		if err == nil {
			resp.Body.Close()
		}
		assert.Error(t, err)

		resp, err = c.Get(s.URL + "/late")
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		assert.Equal(t, "part", string(body))
		assert.Error(t, err)
	})
}

func TestInMemoryErrors(t *testing.T) {
	var log bytes.Buffer
	s, err := httptest.Start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/panic":
			panic("oops")
		case "/short":
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "part")
		case "/deadline":
			assert.NoError(t, http.NewResponseController(w).SetWriteDeadline(time.Unix(0, 0)))
			<-r.Context().Done()
			_, err := io.WriteString(w, "late")
			assert.Error(t, err)
		case "/read":
			_, err := io.ReadAll(r.Body)
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		}
	}), httptest.Options{InMemory: true, ErrorLog: newLog(&log)})
	require.NoError(t, err)
	c := s.Client()

	_, err = c.Get(s.URL + "/panic")
	assert.ErrorIs(t, err, syscall.ECONNRESET)
	assert.Contains(t, log.String(), "panic serving GET /panic: oops")
	assert.Contains(t, log.String(), "transport_test.go")

	resp, err := c.Get(s.URL + "/short")
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	assert.Equal(t, "part", string(body))
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)

	_, err = c.Get(s.URL + "/deadline")
	assert.ErrorIs(t, err, syscall.ECONNRESET)

	broken := errors.New("broken")
	_, err = c.Post(s.URL+"/read", "text/plain", io.MultiReader(strings.NewReader("x"), errorReader{broken}))
	assert.ErrorIs(t, err, broken)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL, nil)
	require.NoError(t, err)
	_, err = c.Do(req)
	assert.ErrorIs(t, err, context.Canceled)

	s.Close()
	_, err = c.Get(s.URL)
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// closeCounter is a body that counts how often it is closed.
type closeCounter struct {
	io.Reader
	closed chan struct{}
}

func (c closeCounter) Close() error {
	c.closed <- struct{}{}
	return nil
}

func TestInMemoryClosesRequestBodyOnce(t *testing.T) {
	for _, path := range []string{"/ignore", "/close", "/panic", "/refused"} {
		t.Run(path, func(t *testing.T) {
			s, err := httptest.Start(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/close":
					r.Body.Close()
					_, err := r.Body.Read(make([]byte, 1))
					assert.ErrorIs(t, err, http.ErrBodyReadAfterClose)
				case "/panic":
					panic(http.ErrAbortHandler)
				}
			}), httptest.Options{InMemory: true})
			require.NoError(t, err)
			if path == "/refused" {
				s.Close()
			}
			body := closeCounter{strings.NewReader("x"), make(chan struct{}, 9)}
			req, err := http.NewRequest("POST", s.URL+path, body)
			require.NoError(t, err)
			if resp, err := s.InMemory().RoundTrip(req); err == nil {
				resp.Body.Close()
			}
			s.Close()
			assert.Len(t, body.closed, 1)
		})
	}
}

func TestInMemoryBackpressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		written := 0
		s, err := httptest.Start(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for range 1000 {
				n, err := w.Write(make([]byte, 1<<10))
				assert.NoError(t, err)
				written += n
			}
		}), httptest.Options{InMemory: true})
		require.NoError(t, err)
		defer s.Close()
		resp, err := s.Client().Get(s.URL)
		require.NoError(t, err)
		synctest.Wait()
		assert.Less(t, written, 70<<10)

		_, err = io.CopyN(io.Discard, resp.Body, 500<<10)
		require.NoError(t, err)
		synctest.Wait()
		assert.Less(t, written, 570<<10)

		rest, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Len(t, rest, 500<<10)
		assert.Equal(t, 1000<<10, written)
	})
}

func TestImmediate(t *testing.T) {
	returned := false // not guarded: the client's goroutine writes and reads it
	s, err := httptest.Start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			<-r.Context().Done()
			return
		}
		io.Copy(w, r.Body)
		returned = true
	}), immediate)
	require.NoError(t, err)
	defer s.Close()
	big := strings.Repeat("x", 1<<20)

	resp, err := s.Client().Post(s.URL, "text/plain", strings.NewReader(big))
	require.NoError(t, err)
	assert.True(t, returned, "the handler has returned before the response is read")
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, big, string(body))

	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/wait", nil)
	require.NoError(t, err)
	_, err = s.Client().Do(req)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

// A handler that reads a body which can be read only once has a goroutine of its own.
func TestImmediateWithPipe(t *testing.T) {
	s, err := httptest.Start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		io.Copy(w, r.Body)
	}), immediate)
	require.NoError(t, err)
	defer s.Close()
	r, w := io.Pipe()
	resp, err := s.Client().Post(s.URL, "text/plain", r)
	require.NoError(t, err)
	io.WriteString(w, "after the response")
	w.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "after the response", string(body))
}

func TestInMemoryLongPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := httptest.Start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ticker := time.NewTicker(time.Minute)
			defer ticker.Stop()
			for {
				w.(http.Flusher).Flush()
				select {
				case now := <-ticker.C:
					io.WriteString(w, now.UTC().Format(time.TimeOnly)+"\n")
				case <-r.Context().Done():
					return
				}
			}
		}), httptest.Options{InMemory: true})
		require.NoError(t, err)
		resp, err := s.Client().Get(s.URL)
		require.NoError(t, err)
		lines := bufio.NewScanner(resp.Body)
		for _, want := range []string{"00:01:00", "00:02:00", "00:03:00"} {
			require.True(t, lines.Scan())
			assert.Equal(t, want, lines.Text())
		}
		s.Close()
		assert.False(t, lines.Scan())
		assert.NoError(t, lines.Err(), "the stream ends cleanly")
	})
}

func TestInMemoryWriteDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var failed time.Duration
		s, err := httptest.Start(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			control := http.NewResponseController(w)
			assert.NoError(t, control.SetWriteDeadline(begin.Add(time.Second)))
			assert.NoError(t, control.SetWriteDeadline(begin.Add(time.Hour)))
			_, err := io.Copy(w, rand.Reader)
			assert.Error(t, err)
			failed = time.Since(begin)
		}), httptest.Options{InMemory: true})
		require.NoError(t, err)
		resp, err := s.Client().Get(s.URL)
		require.NoError(t, err)
		time.Sleep(2 * time.Hour) // of the bubble's time
		data, err := io.ReadAll(resp.Body)
		assert.NotEmpty(t, data)
		assert.Error(t, err)
		s.Close()
		assert.Equal(t, time.Hour, failed)
	})
}

func TestInMemoryReadDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		s, err := httptest.Start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			control := http.NewResponseController(w)
			assert.NoError(t, control.SetReadDeadline(begin.Add(time.Second)))
			assert.NoError(t, control.SetReadDeadline(begin.Add(time.Hour)))
			data, err := io.ReadAll(r.Body)
			assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
			assert.Equal(t, "a", string(data))
			assert.Equal(t, time.Hour, time.Since(begin))
			w.WriteHeader(http.StatusGatewayTimeout)
		}), httptest.Options{InMemory: true})
		require.NoError(t, err)
		body, client := io.Pipe()
		var writing sync.WaitGroup
		defer writing.Wait()
		writing.Go(func() {
			_, err := io.WriteString(client, "a")
			assert.NoError(t, err)
			time.Sleep(2 * time.Hour) // of the bubble's time
			_, err = io.WriteString(client, "b")
			assert.ErrorIs(t, err, io.ErrClosedPipe)
		})
		resp, err := s.Client().Post(s.URL, "", body)
		require.NoError(t, err)
		assert.Equal(t, http.StatusGatewayTimeout, resp.StatusCode)
		s.Close()
	})
}
