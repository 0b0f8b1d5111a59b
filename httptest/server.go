package httptest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// handlerTimeout is how long Close waits for handlers before it breaks their
	// connections. A client that does not read blocks its handler.
	handlerTimeout = 250 * time.Millisecond
	// drainTimeout is how long Close waits, after the last handler has returned,
	// for connections to send buffered data and close. Connections of HTTP/1, and
	// HTTP/2 connections of Go clients, mostly do at once.
	drainTimeout = 25 * time.Millisecond
)

// The limits of kube-apiserver's listener.
const (
	// readHeaderTimeout is how long a client may take for the TLS handshake, and
	// for the header of a request.
	readHeaderTimeout = 32 * time.Second
	// idleTimeout is how long a connection without a request is kept.
	idleTimeout = 90 * time.Second
	// maxStreams is the maximum number of concurrent requests of an HTTP/2
	// connection.
	maxStreams = 1000
	// maxStreamBuffer is the maximum number of bytes of a request body that an
	// HTTP/2 stream buffers, and of an HTTP/2 frame.
	maxStreamBuffer = 256 << 10
)

// Options configure a [Server]. The zero value serves plain HTTP on a free port of
// 127.0.0.1.
type Options struct {
	// Addr is the TCP address to listen on. Empty means "127.0.0.1:0".
	Addr string

	// TLS serves HTTPS, with a certificate for localhost, 127.0.0.1 and ::1. Its CA is
	// generated once in each process.
	TLS bool

	// Names are further DNS names and IP addresses for the certificate. They have no
	// effect on a certificate found in CertDir.
	Names []string

	// CertDir is a directory with the certificate, apiserver.crt, and its key,
	// apiserver.key, both PEM. If neither file exists, Start writes both, and creates
	// the directory if necessary. Servers that start concurrently must not share an
	// empty directory. Empty means no files. Without TLS it has no effect.
	CertDir string

	// Certificate and Key are the certificate and its key in PEM. If they are empty,
	// the certificate is one of CertDir, or a generated one.
	Certificate, Key []byte

	// Named are further certificates, for the names that clients ask for (SNI).
	Named []NamedCertificate

	// ClientCAs are the CAs of client certificates. The server names them in the
	// handshake, so that a client sends only a certificate of one of them. Nil names
	// none. The server verifies no certificate: the handler does, in Request.TLS.
	ClientCAs *x509.CertPool

	// MinVersion is the lowest version of TLS, and CipherSuites are those that the server
	// accepts in versions below 1.3, in the order and with the defaults of [tls.Config].
	// HTTP/2 needs TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 or
	// TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 there: Start fails without them.
	MinVersion   uint16
	CipherSuites []uint16

	// InMemory opens no listener: Addr and TLS have no effect, and clients use
	// [Server.InMemory].
	InMemory bool

	// Immediate reports whether the handler answers a request without waiting for its
	// client to read, and returns soon after the request's context is done. In memory,
	// such a request is served in the goroutine of its client, which saves waking another
	// one, and the whole body of its response is kept until the client has read it. A
	// request whose body can be read only once (http.Request.GetBody is nil) is not. Nil
	// means no request.
	Immediate func(*http.Request) bool

	// ErrorLog gets net/http's messages about connections, and panics of handlers
	// with their stacks. Nil discards them.
	ErrorLog *log.Logger
}

// A Server serves one handler until it is closed. It is safe for concurrent use.
type Server struct {
	// URL is the base URL, without a trailing slash. Do not change it. The URL of a
	// server without a listener works with its Transport only.
	URL string

	handler   http.Handler
	immediate func(*http.Request) bool
	log       *log.Logger
	base      context.Context // of every request
	cancel    context.CancelFunc
	http      *http.Server // nil in memory
	cert      *certificate // nil without TLS
	tls       atomic.Pointer[tlsSettings]
	transport *http.Transport // nil in memory

	minVersion   uint16 // of Options, as is cipherSuites
	cipherSuites []uint16
	served       chan struct{} // closed when the accept loop has ended

	handlers  sync.WaitGroup
	closeOnce sync.Once

	mu        sync.Mutex // guards the fields below
	closed    bool       // no further handler may start
	exchanges map[*exchange]struct{}
	conns     map[net.Conn]http.ConnState
	drained   chan struct{} // closed when conns is empty; nil unless Close waits for it
}

// Start serves handler until the server is closed. It fails if it cannot listen, or
// cannot read, write or issue the certificate.
func Start(handler http.Handler, o Options) (*Server, error) {
	s := &Server{
		URL:       "http://in-memory",
		handler:   handler,
		immediate: o.Immediate,
		log:       o.ErrorLog,
		exchanges: make(map[*exchange]struct{}),
	}
	if s.log == nil {
		s.log = log.New(io.Discard, "", 0)
	}
	s.base, s.cancel = context.WithCancel(context.Background())
	if o.InMemory {
		return s, nil
	}
	if err := s.listen(o); err != nil {
		s.cancel()
		return nil, err
	}
	return s, nil
}

func (s *Server) listen(o Options) error {
	scheme := "http"
	var config *tls.Config
	if o.TLS {
		if err := checkCipherSuites(&o); err != nil {
			return err
		}
		s.minVersion, s.cipherSuites = o.MinVersion, o.CipherSuites
		var err error
		if s.cert, err = serverCertificate(&o); err != nil {
			return err
		}
		scheme = "https"
		named, err := namedCertificates(o.Named)
		if err != nil {
			return err
		}
		s.tls.Store(s.newTLS(s.cert.pair, named, o.ClientCAs))
		config = &tls.Config{Certificates: []tls.Certificate{s.cert.pair}, GetConfigForClient: s.configFor}
	}
	addr := o.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	var tcp net.ListenConfig
	tcp.SetMultipathTCP(false) // its probes take a tenth of the time of a start
	listener, err := tcp.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return fmt.Errorf("httptest: %w", err)
	}
	s.URL = scheme + "://" + dialAddr(listener.Addr())
	s.conns = make(map[net.Conn]http.ConnState)
	s.served = make(chan struct{})
	s.transport = s.newTransport()
	s.http = s.newHTTP(config)
	s.http.Addr = listener.Addr().String() // for the handler
	go func() {
		defer close(s.served)
		var err error
		if o.TLS {
			err = s.http.ServeTLS(listener, "", "")
		} else {
			err = s.http.Serve(listener)
		}
		if err != http.ErrServerClosed {
			s.log.Print("httptest: ", err)
		}
	}()
	return nil
}

// newHTTP returns a server of the handler that has the limits of kube-apiserver's.
// config is nil without TLS.
func (s *Server) newHTTP(config *tls.Config) *http.Server {
	h := &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		TLSConfig:         config,
		ErrorLog:          s.log,
		BaseContext:       func(net.Listener) context.Context { return s.base },
		ConnState:         s.track,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
	}
	setHTTP2(h)
	return h
}

// dialAddr returns the host and port at which clients of this machine reach a
// listener.
func dialAddr(addr net.Addr) string {
	tcp := *addr.(*net.TCPAddr)
	if tcp.IP.IsUnspecified() {
		tcp.IP = net.IPv4(127, 0, 0, 1)
	}
	return tcp.String()
}

// CACertificate returns the CA certificate of the server in PEM; nil without TLS.
// The caller owns the slice.
func (s *Server) CACertificate() []byte {
	if s.cert == nil {
		return nil
	}
	return slices.Clone(s.cert.ca)
}

// Client returns a client of the server that uses [Server.Transport].
func (s *Server) Client() *http.Client {
	return &http.Client{Transport: s.Transport()}
}

// Transport returns a transport to the listener, which trusts the server's
// certificate and prefers HTTP/2 with TLS. Without a listener it returns
// [Server.InMemory]. Every call returns the same transport. Close closes its idle
// connections.
func (s *Server) Transport() http.RoundTripper {
	if s.http == nil {
		return s.InMemory()
	}
	return s.transport
}

func (s *Server) newTransport() *http.Transport {
	t := &http.Transport{ForceAttemptHTTP2: true}
	if s.cert != nil {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(s.cert.ca)
		t.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return t
}

// InMemory returns a transport that calls the handler directly, for any host. The
// package documentation lists how it differs from a connection. It works for
// servers with and without a listener.
//
// A request fails with syscall.ECONNRESET if the handler panics, or if the server
// closes while the client does not read; with syscall.ECONNREFUSED if the server is
// closed.
func (s *Server) InMemory() http.RoundTripper {
	return inMemory{s}
}

// serve handles the requests of the listener.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.enter(nil) {
		panic(http.ErrAbortHandler)
	}
	defer s.leave(nil)
	s.handler.ServeHTTP(w, r)
}

// enter registers a running handler, with its exchange if it serves the in-memory
// transport. It reports false if the server is closing.
func (s *Server) enter(e *exchange) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.handlers.Add(1)
	if e != nil {
		s.exchanges[e] = struct{}{}
	}
	return true
}

// leave unregisters a handler that has returned.
func (s *Server) leave(e *exchange) {
	s.mu.Lock()
	delete(s.exchanges, e)
	s.mu.Unlock()
	s.handlers.Done()
}

// track records the states of connections for Close.
func (s *Server) track(c net.Conn, state http.ConnState) {
	if state == http.StateIdle {
		return // Close treats it like an active one
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(s.conns, c)
		if s.drained != nil && len(s.conns) == 0 {
			close(s.drained)
			s.drained = nil
		}
	default:
		s.conns[c] = state
	}
}

// Close stops the server. It closes the listener, cancels the contexts of running
// requests, and waits until all handlers and all connections have ended. A
// connection whose handler still runs after 250 ms is broken; the wait for the
// handler has no limit.
//
// Further calls wait for the first one. A handler must not call Close.
func (s *Server) Close() {
	s.closeOnce.Do(s.close)
}

// Shutdown closes the listener, refuses further requests, and waits until all handlers have
// ended, or until ctx is done; then it returns the cause. It cancels no request. The caller must
// Close the server. A handler must not call Shutdown.
func (s *Server) Shutdown(ctx context.Context) error {
	s.refuse()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.handlers.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Server) close() {
	s.refuse()
	s.cancel()
	timer := time.AfterFunc(handlerTimeout, s.abort)
	s.handlers.Wait()
	timer.Stop()
	if s.http != nil {
		s.drain()
		s.transport.CloseIdleConnections()
	}
}

// refuse closes the listener, and has requests on open connections fail.
func (s *Server) refuse() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	if s.http == nil {
		return
	}
	// With a cancelled context, Shutdown does not wait. It closes the listener
	// and idle connections, sends GOAWAY to HTTP/2 clients, and makes HTTP/1
	// connections close after their response.
	ended, end := context.WithCancel(context.Background())
	end()
	s.http.Shutdown(ended)
	<-s.served
	s.closeUnused()
}

// closeUnused closes connections that have not sent a request yet. Shutdown does
// not.
func (s *Server) closeUnused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, state := range s.conns {
		if state == http.StateNew {
			c.Close()
		}
	}
}

// abort breaks all connections and exchanges.
func (s *Server) abort() {
	if s.http != nil {
		s.http.Close()
	}
	s.mu.Lock()
	exchanges := slices.Collect(maps.Keys(s.exchanges))
	s.mu.Unlock()
	for _, e := range exchanges {
		e.abort(errReset)
	}
}

// drain waits for connections to close, and closes them after drainTimeout.
func (s *Server) drain() {
	drained := make(chan struct{})
	s.mu.Lock()
	if len(s.conns) == 0 {
		close(drained)
	} else {
		s.drained = drained
	}
	s.mu.Unlock()

	timer := time.NewTimer(drainTimeout)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C:
		s.http.Close()
		<-drained
	}
}
