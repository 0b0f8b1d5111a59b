package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// dialTimeout and handshakeTimeout are the longest times for a connection and for its TLS
	// handshake, idleTimeout is the longest time without a request.
	dialTimeout      = 30 * time.Second
	handshakeTimeout = 10 * time.Second
	idleTimeout      = 90 * time.Second
	// maxIdle is the maximum number of idle connections to a host.
	maxIdle = 25
)

// A dialFunc connects to an address.
type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// dial connects to an address.
func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, addr)
}

// until returns a dialFunc whose connections are closed when ctx ends. An http.Transport goes
// on connecting, and waits for the TLS handshake, after its request has ended: another request
// could use the connection.
func (d dialFunc) until(ctx context.Context) dialFunc {
	return func(_ context.Context, network, addr string) (net.Conn, error) {
		conn, err := d(ctx, network, addr)
		if err == nil {
			context.AfterFunc(ctx, func() { conn.Close() })
		}
		return conn, err
	}
}

// A Pool keeps transports by keys, and their connections for later requests. The zero value is
// ready for use, by many goroutines.
type Pool[K comparable, T any] struct {
	connections Connections

	mu  sync.Mutex // guards all
	all map[K]pooled[T]
}

// pooled is what a Pool has for a key.
type pooled[T any] struct {
	value   T
	sockets *http.Transport
}

// maxPooled is the number of keys of a Pool.
const maxPooled = 200

// Get returns what create has returned for a key: a value, and the transport that has its
// connections, nil for none. In a bubble and after Close, they are closed when ctx ends, and
// create is called for each request.
func (p *Pool[K, T]) Get(ctx context.Context, key K, create func() (T, *http.Transport, error)) (T, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.all[key]; ok {
		return known.value, nil
	}
	value, sockets, err := create()
	if err != nil || sockets == nil {
		return value, err
	}
	if p.connections.isClosed() || inBubble() {
		sockets.DialContext = dialFunc(sockets.DialContext).until(ctx)
		sockets.DisableKeepAlives = true
		return value, nil
	}
	p.connections.Keep(sockets)
	if len(p.all) >= maxPooled {
		for _, old := range p.all {
			old.sockets.CloseIdleConnections()
		}
		clear(p.all)
	}
	if p.all == nil {
		p.all = map[K]pooled[T]{}
	}
	p.all[key] = pooled[T]{value, sockets}
	return value, nil
}

// Close closes the connections.
func (p *Pool[K, T]) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connections.Close()
	p.all = nil
}

// KeepingTransport returns a transport for a Pool.
func KeepingTransport(trust *tls.Config) *http.Transport {
	return &http.Transport{
		DialContext: dial, TLSClientConfig: trust,
		TLSHandshakeTimeout: handshakeTimeout, IdleConnTimeout: idleTimeout, MaxIdleConnsPerHost: maxIdle,
	}
}

// NewTransport returns a transport without keep-alives, whose connections are closed
// when ctx ends.
func NewTransport(ctx context.Context, trust *tls.Config) *http.Transport {
	return &http.Transport{TLSClientConfig: trust, DialContext: dialFunc(dial).until(ctx), DisableKeepAlives: true}
}

// Connections are connections that are closed together. The zero value is ready for use, by
// many goroutines.
type Connections struct {
	mu     sync.Mutex // guards the fields below
	open   map[*connection]struct{}
	closed bool
}

// isClosed reports whether c is closed.
func (c *Connections) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Close closes the connections. Later ones are closed at once.
func (c *Connections) Close() {
	c.mu.Lock()
	open := c.open
	c.open, c.closed = nil, true
	c.mu.Unlock()
	for conn := range open {
		conn.Conn.Close()
	}
}

// Keep makes a transport keep its connections in c.
func (c *Connections) Keep(t *http.Transport) {
	next := t.DialContext
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return c.add(conn)
	}
}

func (c *Connections) add(conn net.Conn) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		conn.Close()
		return nil, net.ErrClosed
	}
	if c.open == nil {
		c.open = map[*connection]struct{}{}
	}
	kept := &connection{conn, c}
	c.open[kept] = struct{}{}
	return kept, nil
}

// A connection is one of Connections.
type connection struct {
	net.Conn
	of *Connections
}

func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// do sends a request. It sends it again if a kept connection ends before the answer.
//
// Differs from kube-apiserver: calls of a webhook that has restarted: kube-apiserver may find
// out that a connection has ended when it has sent a request, which fails with EOF. Here the
// request is sent again by another connection. Request: any that a webhook handles.
func do(c *http.Client, r *http.Request) (*http.Response, error) {
	for attempt := 0; ; attempt++ {
		isReused := false
		ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
			GotConn: func(conn httptrace.GotConnInfo) { isReused = conn.Reused },
		})
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		sent := r.WithContext(ctx)
		sent.Body = body
		resp, err := c.Do(sent)
		if err == nil || !isReused || !isEnd(err) || attempt == maxIdle {
			return resp, err
		}
	}
}

// isEnd reports whether an error is the end of a connection.
func isEnd(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, end) {
			return true
		}
	}
	return strings.Contains(err.Error(), "http2: ") || strings.Contains(err.Error(), "server closed idle connection")
}

// inBubble reports whether the calling goroutine is in a testing/synctest bubble. There, no
// connection may be kept: a goroutine waits for its socket, so that the time of the bubble
// would not pass.
func inBubble() bool {
	var stack [64]byte
	header, _, _ := bytes.Cut(stack[:runtime.Stack(stack[:], false)], []byte("\n"))
	return bytes.Contains(header, []byte("synctest"))
}
