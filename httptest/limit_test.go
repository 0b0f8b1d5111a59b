//go:build go1.25

package httptest

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A pipeListener accepts the server's ends of pipes, so that connections work in a
// bubble.
type pipeListener chan net.Conn

func (l pipeListener) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l pipeListener) Close() error {
	close(l)
	return nil
}

func (l pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// TestLimits checks when the listener closes connections that send nothing, a part
// of a header, or nothing after a request.
func TestLimits(t *testing.T) {
	const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, tt := range []struct {
		name, sent string
		answered   bool
		want       time.Duration
	}{
		{"no request", "", false, readHeaderTimeout},
		{"a part of a header", request[:len(request)-4], false, readHeaderTimeout},
		{"no further request", request, true, idleTimeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := Start(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), Options{InMemory: true})
				require.NoError(t, err)
				defer s.Close()
				s.conns = map[net.Conn]http.ConnState{}
				h, l := s.newHTTP(nil), make(pipeListener)
				go func() { assert.True(t, errors.Is(h.Serve(l), http.ErrServerClosed)) }()
				client, server := net.Pipe()
				defer client.Close()
				l <- server
				begin := time.Now()
				_, err = io.WriteString(client, tt.sent)
				require.NoError(t, err)
				require.NoError(t, client.SetReadDeadline(begin.Add(time.Hour)))
				data, err := io.ReadAll(client)
				assert.False(t, errors.Is(err, os.ErrDeadlineExceeded), "the connection stays open")
				assert.Equal(t, tt.answered, len(data) > 0)
				assert.Equal(t, tt.want, time.Since(begin))
				h.Close()
			})
		})
	}
}
