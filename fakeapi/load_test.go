//go:build go1.25

package fakeapi_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestThousandServers(t *testing.T) {
	servers := make([]*fakeapi.Server, 1000)
	for i := range servers {
		servers[i] = fakeapi.Start(t)
	}
	for i, srv := range servers {
		if i%2 == 0 {
			apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
		}
		code, _ := apitest.Do(t, srv, "GET", "/api/v1/namespaces/default/configmaps/a", "")
		require.Equal(t, map[bool]int{true: 200, false: 404}[i%2 == 0], code)
	}
}

// The server serves ten thousand short watches, a hundred at a time.
func TestTenThousandWatches(t *testing.T) {
	const clients, each = 100, 100
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	var all sync.WaitGroup
	failed := make(chan error, clients)
	for range clients {
		all.Go(func() {
			for range each {
				if err := watchOnce(t.Context(), srv); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		require.NoError(t, err)
	}
	w := watch(t, srv, "fieldSelector=metadata.name%3Da")
	w.expect("ADDED")
	apitest.Put(t, srv, apitest.ConfigMap("a", "2"))
	w.expect("MODIFIED")
}

// watchOnce opens a watch, reads from it and closes it.
func watchOnce(ctx context.Context, srv *fakeapi.Server) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", srv.URL+"/api/v1/configmaps?watch=1", nil)
	if err != nil {
		return err
	}
	resp, err := srv.Client().Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.ReadFull(resp.Body, make([]byte, 10))
	return err
}

// A client can close its connection at any point without an effect on the server.
func TestClientDisconnects(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(apitest.ConfigMap("a", strings.Repeat("x", 1<<20))))
	const create = "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
	tests := []struct {
		name, request string
		reads         int // bytes of the answer
		logged        bool
	}{
		{"before a request", "", 0, false},
		{"in the request line", "GET /api/v1/con", 0, false},
		{"in the header", "GET /api/v1/configmaps HTTP/1.1\r\nHost:", 0, false},
		{"before the body", create + "Content-Length: 100\r\n\r\n", 0, true},
		{"in the body", create + "Content-Length: 100\r\n\r\n" + `{"metadata":{"na`, 0, true},
		{"in a chunk", create + "Transfer-Encoding: chunked\r\n\r\n64\r\n" + `{"metadata":{"na`, 0, true},
		{"before the response", "GET /api/v1/configmaps HTTP/1.1\r\nHost: a\r\n\r\n", 0, true},
		{"in the response", "GET /api/v1/configmaps HTTP/1.1\r\nHost: a\r\n\r\n", 100, true},
		{"in a watch", "GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n", 100, true},
		{"in an idle watch", "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n", 20, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := len(srv.Requests())
			conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
			require.NoError(t, err)
			_, err = io.WriteString(conn, tt.request)
			require.NoError(t, err)
			_, err = io.ReadFull(conn, make([]byte, tt.reads))
			require.NoError(t, err)
			require.NoError(t, conn.Close())
			if tt.logged {
				apitest.Eventually(func() bool { return len(srv.Requests()) > before }) // the handler has returned
			}
		})
	}
	for _, r := range srv.Requests() {
		assert.Empty(t, r.Panic, r.URI)
	}
	assert.Len(t, values(t, srv), 1, "nothing was written")
	code, _ := apitest.Do(t, srv, "GET", "/readyz", "")
	assert.Equal(t, http.StatusOK, code)
}
