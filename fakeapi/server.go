package fakeapi

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/control"
	"github.com/kubefake/kubefake/internal/server"
)

// A Server is a running API server. It is safe for concurrent use.
type Server struct {
	// URL is the base URL, without a trailing slash. Do not change it.
	URL string

	// CAData is the CA certificate of the server in PEM; nil without TLS. Do not change it.
	CAData []byte

	api    *server.Server
	http   *httptest.Server
	config *config
	host   *host // nil for a front end

	frontEnd bool // of newFrontEnd: others use api too

	first    *Server     // of which s is a replica; nil for the first server of a cluster
	set      *clusterSet // of the first server
	number   int         // of the replica, from 2
	balancer balancer    // of the first server: the clients that were moved to replicas

	mu       sync.Mutex         // guards the fields below
	hooks    []*httptest.Server // of InstallWebhooks
	replicas []*Server
	started  int  // number of replicas that were started
	ending   bool // no further replica starts

	collect sync.Once // of collectUsage
}

// New starts a server outside of a test. The caller must Close it. A test calls
// Start instead.
//
// Errors: ErrInvalidOption, faults.ErrInvalid, ErrInvalidObject and ErrNotFound for
// the objects of options, the errors of reading their files (fs.ErrNotExist if no
// file matches a glob), and those of net.Listen.
func New(options ...Option) (*Server, error) {
	configs, err := newConfigs(options)
	if err != nil {
		return nil, err
	}
	set := &clusterSet{}
	for i, c := range configs {
		s, err := newCluster(c, set)
		if err != nil {
			set.close()
			return nil, err
		}
		set.add(s, i == 0)
	}
	return set.main, nil
}

// newCluster starts the first server of a cluster.
func newCluster(c *config, set *clusterSet) (*Server, error) {
	api, err := server.New(c.server)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: %w", optionError(err))
	}
	c.server.State, c.state = nil, nil
	if c.usageFolder != "" {
		api.Cluster().Usage().Start()
	}
	s, err := listen(&Server{api: api, config: c, set: set})
	if err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		s.closeCluster()
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	if err := s.config.reloader.publish(s); err != nil {
		s.closeCluster()
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	if err := s.startControllers(c.controllers); err != nil {
		s.closeCluster()
		return nil, fmt.Errorf("fakeapi: %w", optionError(err))
	}
	return s, nil
}

// listen starts the listener of s and returns s. If it fails, it closes s.api.
func listen(s *Server) (*Server, error) {
	options := s.config.http
	options.Immediate = s.api.IsImmediate
	h, err := httptest.Start(s, options)
	if err != nil {
		s.api.Close()
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	s.URL, s.CAData, s.http, s.host = h.URL, h.CACertificate(), h, &host{server: s}
	if err := s.config.reloader.attach(s); err != nil {
		h.Close()
		s.api.Close()
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	s.api.Control().SetHost(s.host)
	return s, nil
}

// Close stops the server: it ends open watches, closes connections, and waits for
// all goroutines of the server. It closes the replicas, and the forks that clients have
// started through the control endpoint, but not those of Fork and NewFork. Of several
// clusters, closing the server that New or Fork has returned closes all. Further calls
// do nothing.
func (s *Server) Close() {
	if s.set != nil && s.set.main == s {
		s.set.close()
		return
	}
	s.closeCluster()
}

// closeCluster closes a server and, if it is the first one of its cluster, the replicas.
func (s *Server) closeCluster() {
	s.config.reloader.detach(s)
	s.closeReplicas()
	s.leaveCluster()
	if s.host != nil {
		s.host.close()
	}
	if !s.frontEnd {
		s.api.Close()
	}
	s.http.Close()
	s.collectUsage()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.hooks {
		h.Close()
	}
}

// NewFork is Fork outside of a test. The caller must Close the fork.
func (s *Server) NewFork() (*Server, error) { return s.newFork("") }

// newFork is NewFork for a test with a name.
func (s *Server) newFork(test string) (*Server, error) {
	first := s.cluster()
	set, group := &clusterSet{}, s.api.Control().Group().Fork()
	for _, of := range first.set.all() {
		if of == first {
			of = s // a replica has faults of its own
		}
		f, err := of.newForkIn(set, group, test)
		if err != nil {
			set.close()
			return nil, err
		}
		set.add(f, of == s)
	}
	return set.main, nil
}

// newForkIn starts a fork of one cluster.
func (s *Server) newForkIn(set *clusterSet, group *control.Group, test string) (*Server, error) {
	api, err := s.api.Fork(test, group)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	f, err := listen(&Server{api: api, config: s.config.elsewhere(), set: set})
	if err != nil {
		return nil, err
	}
	if err := f.startControllers(s.api.Controllers().Selection()); err != nil {
		f.closeCluster()
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	return f, nil
}

// Client returns an HTTP client that uses Transport.
func (s *Server) Client() *http.Client {
	s.api.ExpectClient()
	return s.http.Client()
}

// Transport returns a transport to the server that trusts its certificate. Use it
// as the Transport of a rest.Config with Host: srv.URL.
func (s *Server) Transport() http.RoundTripper {
	s.api.ExpectClient()
	return s.http.Transport()
}

// InMemory reports whether the server has no listener: its clients need Transport.
func (s *Server) InMemory() bool { return s.config.http.InMemory }

// Clock returns the server's clock.
func (s *Server) Clock() Clock { return Clock{s.api} }

var _ http.Handler = (*Server)(nil)

// ServeHTTP serves a request, for use of the server as a handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	to := s.servedBy(r)
	if to == nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(noReplica(r.URL.Query().Get("replica")).JSON()) // an error is that of the connection
		return
	}
	to.api.ServeHTTP(w, r)
}
