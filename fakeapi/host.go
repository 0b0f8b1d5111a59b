package fakeapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/control"
	"github.com/kubefake/kubefake/internal/status"
)

// maxForks is how many forks of the control endpoint a server may have at a time,
// including the forks of its forks.
const maxForks = 512

// A host does for the control endpoint what the methods of a Server do.
type host struct {
	server  *Server
	stopped stopped

	mu     sync.Mutex // guards the fields below; held while a fork starts
	closed bool
	lastID int
	forks  []hostedFork
}

var _ control.Host = (*host)(nil)

// A hostedFork is a fork that a client of the control endpoint has started.
type hostedFork struct {
	control.Fork
	server *Server
}

// A forkCount counts the forks of the control endpoint. A server and its forks share it.
type forkCount struct{ n atomic.Int64 }

// take reports whether there may be another fork, and counts it.
func (f *forkCount) take() bool {
	if f.n.Add(1) <= maxForks {
		return true
	}
	f.n.Add(-1)
	return false
}

func (f *forkCount) release() { f.n.Add(-1) }

// errInMemory is the answer to requests that need a listener.
func errInMemory() error { return status.Unavailable("the server has no listener of its own") }

func (h *host) Fork() (control.Fork, error) {
	if h.server.InMemory() {
		return control.Fork{}, errInMemory()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return control.Fork{}, status.Unavailable("the server is ending")
	}
	count := h.server.config.forks
	if !count.take() {
		return control.Fork{}, status.TooManyRequests(fmt.Sprintf("the server has %d forks, which is the limit: end those that are done with DELETE %sforks?id=ID", maxForks, control.Prefix), 1)
	}
	s, err := h.server.NewFork()
	if err != nil {
		count.release()
		return control.Fork{}, hostError(err)
	}
	h.lastID++
	f := control.Fork{ID: strconv.Itoa(h.lastID), URL: s.URL, Kubeconfig: string(s.Kubeconfig())}
	h.forks = append(h.forks, hostedFork{f, s})
	return f, nil
}

func (h *host) Forks() []control.Fork {
	h.mu.Lock()
	defer h.mu.Unlock()
	return described(h.forks)
}

func (h *host) EndForks(ids []string) ([]control.Fork, error) {
	ended, err := h.remove(ids)
	if err != nil {
		return nil, err
	}
	h.end(ended)
	return described(ended), nil
}

// remove removes the forks with these IDs from the list, all of them if ids is nil.
func (h *host) remove(ids []string) ([]hostedFork, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	removed := h.forks
	var left []hostedFork
	if ids != nil {
		removed = nil
		for _, f := range h.forks {
			if slices.Contains(ids, f.ID) {
				removed = append(removed, f)
			} else {
				left = append(left, f)
			}
		}
		for _, id := range ids {
			if !slices.ContainsFunc(removed, func(f hostedFork) bool { return f.ID == id }) {
				return nil, status.Failure(http.StatusNotFound, status.ReasonNotFound, fmt.Sprintf("there is no fork %q", id), nil)
			}
		}
	}
	h.forks = left
	return removed, nil
}

// end closes forks that are removed.
func (h *host) end(forks []hostedFork) {
	var closing sync.WaitGroup
	for _, f := range forks {
		closing.Add(1)
		go func() {
			defer closing.Done()
			f.server.Close()
			h.server.config.forks.release()
		}()
	}
	closing.Wait()
}

// close ends all forks, lets no further one start, and lets processes continue.
func (h *host) close() {
	h.mu.Lock()
	forks := h.forks
	h.forks, h.closed = nil, true
	h.mu.Unlock()
	h.end(forks)
	h.continueStopped()
}

func (h *host) Kubeconfig(user authn.User) (control.Kubeconfig, error) {
	s := h.server
	if s.InMemory() {
		return control.Kubeconfig{}, errInMemory()
	}
	c := s.Credentials(User(user))
	file := c.kubeconfig()
	if user.Name != authn.Administrator().Name {
		var err error
		if file, err = c.Kubeconfig(); err != nil {
			return control.Kubeconfig{}, hostError(err)
		}
	}
	return control.Kubeconfig{Kubeconfig: string(file), Token: c.BearerToken}, nil
}

func (h *host) Play(ctx context.Context, text string) (control.Played, error) {
	if control.PlayScenarios == nil {
		return control.Played{}, status.Failure(http.StatusNotImplemented, status.ReasonInternalError,
			"the program of the server does not have package scenarios, which plays scenarios; fakeapi serve does, and fakeapi play plays them against any server", nil)
	}
	token := ""
	if c, err := h.Kubeconfig(*authn.Administrator()); err == nil {
		token = c.Token
	}
	return control.PlayScenarios(ctx, h.server.URL, h.server.Transport(), token, text)
}

func (h *host) InstallWebhooks(in control.Webhooks) (control.WebhookListener, error) {
	if h.server.InMemory() {
		return control.WebhookListener{}, errInMemory()
	}
	w, err := h.server.listenForWebhooks(in.Services, in.Convert)
	if err != nil {
		return control.WebhookListener{}, hostError(err)
	}
	return control.WebhookListener{
		Host: w.host, Port: w.port, Certificate: string(w.certificate), Key: string(w.key), CABundle: string(w.caBundle),
	}, nil
}

// maxReplicas is how many servers a cluster may have by the control endpoint.
const maxReplicas = 16

func (h *host) StartReplica() (control.Replica, error) {
	r, err := h.server.newReplica(maxReplicas)
	switch {
	case errors.Is(err, errTooManyReplicas):
		return control.Replica{}, status.TooManyRequests(fmt.Sprintf("the cluster has %d API servers, which is the limit", maxReplicas), 1)
	case errors.Is(err, errEnding):
		return control.Replica{}, status.Unavailable("the server is ending")
	case err != nil:
		return control.Replica{}, hostError(err)
	}
	return r.describe(), nil
}

// describe returns what the control endpoint answers about a server of a cluster.
func (s *Server) describe() control.Replica {
	r := control.Replica{ID: strconv.Itoa(max(1, s.number)), URL: s.URL}
	if !s.InMemory() {
		r.Kubeconfig = string(s.Kubeconfig())
	}
	return r
}

func (h *host) Replicas() []control.Replica {
	first := h.server.cluster()
	out := []control.Replica{first.describe()}
	for _, r := range first.others() {
		out = append(out, r.describe())
	}
	return out
}

func (h *host) Failover(userAgent, replica string) error {
	to := h.server.replica(replica)
	if to == nil {
		return noReplica(replica)
	}
	h.server.Failover(userAgent, to)
	return nil
}

func (h *host) Upgrade(release string) error {
	if err := h.server.Upgrade(release); err != nil {
		return hostError(err)
	}
	return nil
}

func (h *host) Release() string { return h.server.Release() }

func noReplica(id string) *status.Status {
	return status.Failure(http.StatusNotFound, status.ReasonNotFound, fmt.Sprintf("there is no replica %q", id), nil)
}

// described returns what the control endpoint answers about forks.
func described(forks []hostedFork) []control.Fork {
	out := make([]control.Fork, len(forks))
	for i, f := range forks {
		out[i] = f.Fork
	}
	return out
}

// hostError returns the answer of the control endpoint to an error of a Server's method.
func hostError(err error) error {
	switch {
	case errors.Is(err, ErrNotFound):
		return status.Failure(http.StatusNotFound, status.ReasonNotFound, err.Error(), nil)
	case errors.Is(err, ErrInvalidOption), errors.Is(err, ErrInvalidObject):
		return status.BadRequest(err.Error())
	}
	return status.Internal(err.Error())
}
