package fakeapi

import (
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/fault"
)

// Replica starts another API server of the same cluster, as the second kube-apiserver of
// a control plane for high availability: with the same objects, users, clock, controllers
// and history of requests, and its own URL, watch caches, lags and faults. It begins
// without lag and without faults. t closes it, at the latest when s is closed.
//
// Settle waits for the clients of all replicas. NewFork forks the cluster: the fork has
// the lags of the first server and the faults of the replica.
func (s *Server) Replica(t TB) *Server {
	t.Helper()
	r, err := s.NewReplica()
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(r.Close)
	return r
}

// NewReplica is Replica outside of a test. The caller must Close the replica before s.
// The error is that of net.Listen.
func (s *Server) NewReplica() (*Server, error) {
	first := s
	if s.first != nil {
		first = s.first
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	api := first.api.NewReplica(fmt.Sprintf("replica %d", len(first.replicas)+2))
	r, err := listen(api, first.config.elsewhere())
	if err != nil {
		return nil, err
	}
	r.first = first
	first.replicas = append(first.replicas, r)
	return r, nil
}

// closeReplicas closes the replicas of a server.
func (s *Server) closeReplicas() {
	s.mu.Lock()
	replicas := s.replicas
	s.mu.Unlock()
	for _, r := range replicas {
		r.Close()
	}
}

// A Failover is a server that passes each request to one of several replicas, as the load
// balancer of a control plane does. Use its URL, Client or Kubeconfig for clients. It is
// safe for concurrent use.
type Failover struct {
	// URL is the base URL, without a trailing slash.
	URL string

	http    *httptest.Server
	servers []*Server

	mu    sync.Mutex // guards moves
	moves []move     // newest first
}

// A move is where the clients with a user agent are.
type move struct {
	userAgent string
	to        *Server
}

// Failover starts a Failover between s and other replicas. Clients begin at s. t closes
// it.
func (s *Server) Failover(t TB, others ...*Server) *Failover {
	t.Helper()
	f := &Failover{servers: append([]*Server{s}, others...)}
	h, err := httptest.Start(f, s.config.elsewhere().http)
	if err != nil {
		t.Fatalf("fakeapi: %v", err)
		return nil
	}
	f.URL, f.http = h.URL, h
	t.Cleanup(h.Close)
	return f
}

// Move moves the clients whose User-Agent header matches a pattern, such as "manager/*",
// to another replica: it breaks their connections to the others, and passes their next
// requests to that one. If its watch caches lag behind those of the replica before, the
// clients go back in time.
func (f *Failover) Move(userAgent string, to *Server) {
	f.mu.Lock()
	f.moves = slices.DeleteFunc(f.moves, func(m move) bool { return m.userAgent == userAgent })
	f.moves = slices.Insert(f.moves, 0, move{userAgent, to})
	f.mu.Unlock()
	for _, s := range f.servers {
		if s != to {
			s.Disconnect(userAgent)
		}
	}
}

// server returns where a client is.
func (f *Failover) server(userAgent string) *Server {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.moves {
		if fault.Glob(m.userAgent, userAgent) {
			return m.to
		}
	}
	return f.servers[0]
}

// ServeHTTP passes a request to the replica of its client.
func (f *Failover) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.server(r.UserAgent()).ServeHTTP(w, r)
}

// Client returns an HTTP client that uses Transport.
func (f *Failover) Client() *http.Client { return f.http.Client() }

// Transport returns a transport to the Failover that trusts its certificate.
func (f *Failover) Transport() http.RoundTripper { return f.http.Transport() }

// Kubeconfig is Server.Kubeconfig for the Failover.
func (f *Failover) Kubeconfig() []byte {
	k := f.servers[0].kubeconfig(*authn.Administrator())
	k.Server = f.URL
	return k.YAML()
}
