package fault

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/httptest"
)

// Faults work before a reverse proxy as before the server of this module.
func TestProxy(t *testing.T) {
	b := &watchBackend{written: make(chan []byte)}
	mux := http.NewServeMux()
	mux.Handle(pods, b)
	mux.Handle("/", &backend{})
	real, err := httptest.Start(mux, httptest.Options{})
	require.NoError(t, err)
	t.Cleanup(real.Close)
	target, err := url.Parse(real.URL)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = real.Transport()
	proxy.FlushInterval = -1 // watches

	s := newTestSet()
	srv := serve(t, s, proxy, httptest.Options{})
	_, got, err := ask(t, srv, "GET", "/healthz")
	require.NoError(t, err)
	require.Equal(t, body, got)

	// open opens a watch, after the previous one has stopped reading from b.
	open := func() *bufio.Reader {
		for b.open.Load() > 0 {
			runtime.Gosched()
		}
		resp, err := srv.Client().Get(srv.URL + pods + "?watch=1")
		require.NoError(t, err)
		t.Cleanup(func() { resp.Body.Close() })
		in := bufio.NewReader(resp.Body)
		b.send(b.event("ADDED", "a"))
		line, err := in.ReadBytes('\n')
		require.NoError(t, err)
		assert.Equal(t, b.event("ADDED", "a"), line)
		return in
	}
	t.Run("a watch expires", func(t *testing.T) {
		in := open()
		inject(t, s, faults.Fault{Watch: faults.ExpireWatch, Watches: faults.OpenWatches})
		rest, err := io.ReadAll(in)
		assert.NoError(t, err, "the response ends cleanly")
		assert.Contains(t, string(rest), `{"type":"ERROR"`)
	})
	t.Run("a watch is paused", func(t *testing.T) {
		in := open()
		r := inject(t, s, faults.Fault{Watch: faults.PauseWatch})
		b.send(b.event("ADDED", "b"))
		r.Remove()
		line, err := in.ReadBytes('\n')
		require.NoError(t, err)
		assert.Equal(t, b.event("ADDED", "b"), line)
		inject(t, s, faults.Fault{Watch: faults.CloseWatch, Watches: faults.OpenWatches})
	})
	t.Run("a watch is cut", func(t *testing.T) {
		r := inject(t, s, faults.Fault{Verb: "watch", CutAfterBytes: len(b.event("ADDED", "a")) + 3, Times: 1})
		in := open()
		b.send(b.event("ADDED", "b"))
		rest, err := io.ReadAll(in)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Len(t, rest, 3)
		assert.Equal(t, 1, r.Hits())
	})
	t.Run("a response is lost", func(t *testing.T) {
		r := inject(t, s, faults.Fault{Verb: "create", Code: 504, ServeFirst: true})
		resp, _, err := ask(t, srv, "POST", "/api/v1/namespaces")
		require.NoError(t, err)
		assert.Equal(t, http.StatusGatewayTimeout, resp.StatusCode)
		assert.Equal(t, 1, r.Hits())
	})
}
