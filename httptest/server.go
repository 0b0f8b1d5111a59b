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
	"time"
)

const (
	// patience is how long Close lets a handler write to a client that does
	// not read.
	patience = 250 * time.Millisecond
	// parting is how long Close waits, after the last handler has returned,
	// for connections to send what is left and end by themselves. HTTP/1
	// connections, and HTTP/2 ones of Go clients, mostly do at once.
	parting = 25 * time.Millisecond
)

// Options configure a [Server]. They are read by [Start] only. The zero value
// serves plain HTTP on a free port of the IPv4 loopback.
type Options struct {
	// Addr is the TCP address to listen on. Empty means "127.0.0.1:0".
	Addr string

	// TLS makes the server speak HTTPS, with a certificate for localhost,
	// 127.0.0.1 and ::1 from a CA that the process makes up on first use.
	TLS bool

	// Names are further DNS names and IP addresses for the certificate. They
	// do not count for one that is found in CertDir.
	Names []string

	// CertDir is a directory with the certificate, apiserver.crt, and its
	// key, apiserver.key, both PEM. If neither is there, they are written,
	// and the directory is made if need be. Servers that start at the same
	// time cannot share an empty one. Empty means no files. It counts only
	// with TLS.
	CertDir string

	// InMemory serves without a listener: Addr and TLS do not count, and
	// [Server.InMemory] is the only way in.
	InMemory bool

	// ErrorLog takes what net/http has to say about connections, and the
	// panics of handlers with their stacks. Nil discards it all.
	ErrorLog *log.Logger
}

// A Server serves one handler until it is closed. Its methods may be called by
// any number of goroutines.
type Server struct {
	// URL is the base URL, without a slash at the end. It is not to be
	// changed. A server in memory has one, too, that leads nowhere else.
	URL string

	handler   http.Handler
	log       *log.Logger
	base      context.Context // of every request
	cancel    context.CancelFunc
	http      *http.Server    // nil in memory
	cert      *certificate    // nil without TLS
	transport *http.Transport // nil in memory
	served    chan struct{}   // closed when the accept loop has ended

	handlers  sync.WaitGroup
	closeOnce sync.Once

	mu        sync.Mutex // guards what follows
	closed    bool       // no further handler may start
	exchanges map[*exchange]struct{}
	conns     map[net.Conn]http.ConnState
	drained   chan struct{} // closed when conns is empty; nil until Close waits for it
}

// Start serves handler until the server is closed. It fails if it cannot
// listen, or if there is something wrong with the certificate asked for.
func Start(handler http.Handler, o Options) (*Server, error) {
	s := &Server{
		URL:       "http://in-memory",
		handler:   handler,
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
		var err error
		if s.cert, err = serverCertificate(o.Names, o.CertDir); err != nil {
			return err
		}
		scheme = "https"
		config = &tls.Config{
			Certificates: []tls.Certificate{s.cert.pair},
			ClientAuth:   tls.RequestClientCert,
		}
	}
	addr := o.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("httptest: %w", err)
	}
	s.URL = scheme + "://" + reachable(listener.Addr())
	s.conns = make(map[net.Conn]http.ConnState)
	s.served = make(chan struct{})
	s.transport = s.newTransport()
	s.http = &http.Server{
		Handler:     http.HandlerFunc(s.serve),
		TLSConfig:   config,
		Protocols:   new(http.Protocols),
		ErrorLog:    s.log,
		BaseContext: func(net.Listener) context.Context { return s.base },
		ConnState:   s.track,
	}
	s.http.Protocols.SetHTTP1(true)
	s.http.Protocols.SetHTTP2(true)
	s.http.Protocols.SetUnencryptedHTTP2(true)
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

// reachable is the host and port under which a client of this machine reaches
// a listener.
func reachable(addr net.Addr) string {
	tcp := *addr.(*net.TCPAddr)
	if tcp.IP.IsUnspecified() {
		tcp.IP = net.IPv4(127, 0, 0, 1)
	}
	return tcp.String()
}

// CACertificate returns the PEM of what clients must trust to reach the
// server, or nil without TLS. The slice is the caller's.
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

// Transport returns the transport to the server: over its listener, trusting
// its certificate and preferring HTTP/2 with TLS, or the one of
// [Server.InMemory] without one. It is the same for every call, and its idle
// connections end with the server.
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

// InMemory returns a transport that calls the handler directly, whatever host
// a request names. The package documentation tells how it differs from a
// connection. Every server has one, with a listener or without.
//
// A handler's panic, and a server closed under a client that does not read,
// are to the client a connection reset; a closed server refuses connections.
// The errors wrap syscall.ECONNRESET and syscall.ECONNREFUSED.
func (s *Server) InMemory() http.RoundTripper {
	return direct{s}
}

// serve is the handler of the listener's requests.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.enter(nil) {
		panic(http.ErrAbortHandler)
	}
	defer s.leave(nil)
	s.handler.ServeHTTP(w, r)
}

// enter announces a handler, for an exchange if it serves one in memory. It is
// false once the server is closing.
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

// leave says that a handler has returned.
func (s *Server) leave(e *exchange) {
	s.mu.Lock()
	delete(s.exchanges, e)
	s.mu.Unlock()
	s.handlers.Done()
}

// track follows the states of connections for Close.
func (s *Server) track(c net.Conn, state http.ConnState) {
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

// Close ends the server. It stops accepting connections, cancels the contexts
// of the requests being served, lets their responses end, and waits for every
// handler, and for every goroutine that serves a connection, to return. A
// client that does not read is cut off after a quarter of a second. A handler
// that ignores its context is waited for as long as it takes.
//
// Further calls wait for the first one and do nothing. A handler must not call
// Close.
func (s *Server) Close() {
	s.closeOnce.Do(s.close)
}

func (s *Server) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()

	if s.http != nil {
		// With a context that has ended, Shutdown does not wait. It closes
		// the listener and idle connections, tells HTTP/2 clients to go
		// away, and makes HTTP/1 connections end after their response.
		ended, end := context.WithCancel(context.Background())
		end()
		s.http.Shutdown(ended)
		<-s.served
		s.closeUnused()
	}
	s.cancel()
	cut := time.AfterFunc(patience, s.cut)
	s.handlers.Wait()
	cut.Stop()
	if s.http != nil {
		s.drain()
		s.transport.CloseIdleConnections()
	}
}

// closeUnused closes connections that have not yet sent a request, for which
// Shutdown would wait.
func (s *Server) closeUnused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, state := range s.conns {
		if state == http.StateNew {
			c.Close()
		}
	}
}

// cut breaks off everything that still has a handler.
func (s *Server) cut() {
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

// drain waits for connections to end and helps those that do not.
func (s *Server) drain() {
	drained := make(chan struct{})
	s.mu.Lock()
	if len(s.conns) == 0 {
		close(drained)
	} else {
		s.drained = drained
	}
	s.mu.Unlock()

	timer := time.NewTimer(parting)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C:
		s.http.Close()
		<-drained
	}
}
