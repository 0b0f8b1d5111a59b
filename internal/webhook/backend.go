package webhook

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// startTimeout is how long a call waits until a new Backend listens.
	startTimeout = 10 * time.Second
	// startInterval is the time between two attempts to reach a new Backend.
	startInterval = 5 * time.Millisecond
)

// A Backend serves the webhooks of all Services that [Client.Services] does not have.
// One of Addr and Transport is set.
type Backend struct {
	// Addr is the TCP address of the webhooks. Calls wait until it is reachable for the
	// first time, up to ten seconds of the wall clock.
	Addr string
	// Transport calls the webhooks.
	Transport http.RoundTripper

	reached atomic.Bool // a connection to Addr succeeded
}

// dial connects to Addr.
func (b *Backend) dial(ctx context.Context, network string) (net.Conn, error) {
	for begin := time.Now(); ; {
		conn, err := dial(ctx, network, b.Addr)
		if err == nil {
			b.reached.Store(true)
			return conn, nil
		}
		if b.reached.Load() || time.Since(begin) > startTimeout {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(startInterval):
		}
	}
}

// SetBackend sets the Backend of the client, in place of the one before. nil is none.
func (c *Client) SetBackend(b *Backend) { c.backend.Store(b) }
