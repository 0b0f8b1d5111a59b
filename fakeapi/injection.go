package fakeapi

import (
	"fmt"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/fault"
)

// Inject injects faults. They take effect at once, also on open watches. It
// injects either all faults or none; the error is faults.ErrInvalid, also for the singular,
// the kind or a short name of a resource that the server serves. A resource that no server
// serves may be defined later; Injection.String names it. Of several clusters, those get the
// faults that Fault.In names.
//
// Without faults, requests cost nothing more.
func (s *Server) Inject(faults ...faults.Fault) (*faults.Injection, error) {
	rules, err := s.api.Control().Inject(faults...)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	return injection(rules), nil
}

// Injections returns a handle on each injected fault that is not removed, in the
// order of their injection.
func (s *Server) Injections() []*faults.Injection {
	rules := s.api.Faults().Rules()
	out := make([]*faults.Injection, len(rules))
	for i := range rules {
		out[i] = injection(rules[i : i+1])
	}
	return out
}

// injection returns a handle on injected faults.
func injection(rules []*fault.Rule) *faults.Injection {
	out := make([]faults.Rule, len(rules))
	for i, r := range rules {
		out[i] = r
	}
	return faults.NewInjection(out...)
}

// Disconnect breaks the connections of the clients whose User-Agent header matches a
// pattern, such as "manager/*": those of their open watches, and those of their requests
// that wait in a fault. Other requests in flight are answered, and later ones are
// served. It returns the number of connections.
//
// It does to a client in this process what the end of a process does: cancel the
// client's context first.
func (s *Server) Disconnect(userAgent string) int { return s.api.Control().Disconnect(userAgent) }
