package fakeapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/control"
	"github.com/kubefake/kubefake/internal/glob"
)

// NewReplica starts another API server of the same cluster, as the second kube-apiserver of
// a control plane for high availability: with the same objects, users, clock, controllers
// and history of requests, and its own URL, watch caches, lags and faults. It begins
// without lag and without faults. It is closed with s, unless it is closed before.
//
// Settle waits for the clients of all replicas. A fork of a replica is a fork of the cluster: it
// has the lags of the first server and the faults of the replica.
//
// The error is that of net.Listen, or that the first server of the cluster is closed.
func (s *Server) NewReplica() (*Server, error) { return s.newReplica(0) }

var (
	errEnding          = errors.New("fakeapi: the server is closed")
	errTooManyReplicas = errors.New("fakeapi: too many replicas")
)

// newReplica is NewReplica for a cluster of at most limit servers; 0 is no limit. It also
// fails with errTooManyReplicas.
func (s *Server) newReplica(limit int) (*Server, error) {
	first := s.cluster()
	first.mu.Lock()
	defer first.mu.Unlock()
	switch {
	case first.ending:
		return nil, errEnding
	case limit > 0 && len(first.replicas)+1 >= limit:
		return nil, errTooManyReplicas
	}
	number := first.started + 2
	api := first.api.NewReplica(fmt.Sprintf("replica %d", number))
	r, err := listen(&Server{api: api, config: first.config.elsewhere(), first: first, number: number})
	if err != nil {
		return nil, err
	}
	first.started++
	first.replicas = append(first.replicas, r)
	return r, nil
}

// cluster returns the first server of the cluster.
func (s *Server) cluster() *Server {
	if s.first != nil {
		return s.first
	}
	return s
}

// others returns the replicas of the first server of a cluster.
func (s *Server) others() []*Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.replicas)
}

// servedBy returns the server of the cluster that serves a request which s gets: that to
// which the control endpoint has moved the client. A request to a control endpoint is for s,
// or for the replica that it names; nil is one that does not exist.
func (s *Server) servedBy(r *http.Request) *Server {
	if control.Serves(r.URL.Path) {
		if id := r.URL.Query().Get("replica"); id != "" {
			return s.replica(id)
		}
		return s
	}
	if b := &s.cluster().balancer; b.isUsed() {
		return cmp.Or(b.server(r.UserAgent()), s)
	}
	return s
}

// replica returns the server of the cluster with an ID of the control endpoint, nil if there
// is none.
func (s *Server) replica(id string) *Server {
	first := s.cluster()
	for _, r := range append([]*Server{first}, first.others()...) {
		if strconv.Itoa(max(1, r.number)) == id {
			return r
		}
	}
	return nil
}

// closeReplicas closes the replicas of a server, and lets no further one start.
func (s *Server) closeReplicas() {
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	for _, r := range s.others() {
		r.Close()
	}
}

// leaveCluster removes a replica that is being closed. Its clients return to the servers to
// which they are connected.
func (s *Server) leaveCluster() {
	if s.first == nil {
		return
	}
	s.first.balancer.forget(s)
	s.first.mu.Lock()
	defer s.first.mu.Unlock()
	s.first.replicas = slices.DeleteFunc(s.first.replicas, func(r *Server) bool { return r == s })
}

// Failover moves the clients whose User-Agent header matches a pattern, such as "manager/*",
// to a server of the same cluster, as the load balancer of a control plane does when a
// kube-apiserver is gone: it breaks their connections to the others, and passes their requests
// to that one, whichever they are connected to. If its watch caches lag behind those of the
// server before, the clients go back in time.
func (s *Server) Failover(userAgent string, to *Server) {
	first := s.cluster()
	first.balancer.move(userAgent, to, append([]*Server{first}, first.others()...))
}

// A balancer knows where clients were moved. Its zero value is ready to use. It is safe for
// concurrent use.
type balancer struct{ moves atomic.Pointer[[]move] } // newest first

// A move is where the clients with a user agent are.
type move struct {
	userAgent string
	to        *Server
}

// isUsed reports whether a client was moved.
func (b *balancer) isUsed() bool { return b.moves.Load() != nil }

// move moves clients to one of several servers, and breaks their connections to the others.
func (b *balancer) move(userAgent string, to *Server, servers []*Server) {
	b.update(func(moves []move) []move {
		moves = slices.DeleteFunc(moves, func(m move) bool { return m.userAgent == userAgent })
		return slices.Insert(moves, 0, move{userAgent, to})
	})
	for _, s := range servers {
		if s != to {
			s.Disconnect(userAgent)
		}
	}
}

// forget removes the moves to a server.
func (b *balancer) forget(s *Server) {
	b.update(func(moves []move) []move { return slices.DeleteFunc(moves, func(m move) bool { return m.to == s }) })
}

// update replaces the moves by those that f returns for a copy of them.
func (b *balancer) update(f func([]move) []move) {
	for {
		old := b.moves.Load()
		var moves []move
		if old != nil {
			moves = slices.Clone(*old)
		}
		next := &moves
		if moves = f(moves); len(moves) == 0 {
			next = nil
		}
		if b.moves.CompareAndSwap(old, next) {
			return
		}
	}
}

// server returns where a client was moved, nil if it was not.
func (b *balancer) server(userAgent string) *Server {
	if moves := b.moves.Load(); moves != nil {
		for _, m := range *moves {
			if glob.Match(m.userAgent, userAgent) {
				return m.to
			}
		}
	}
	return nil
}
