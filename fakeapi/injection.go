package fakeapi

import (
	"fmt"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/printable"
)

// An Injection is a handle on faults that were injected together.
type Injection struct{ rules []*fault.Rule }

// Inject injects faults. They take effect at once, also on open watches. It
// injects either all faults or none; the error is ErrInvalidFault, also for the singular,
// the kind or a short name of a resource that the server serves. A resource that no server
// serves may be defined later; String names it.
//
// Without faults, requests cost nothing more.
func (s *Server) Inject(faults ...faults.Fault) (*Injection, error) {
	rules, err := s.api.Faults().Inject(faults...)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	return &Injection{rules}, nil
}

// Injections returns a handle on each injected fault that is not removed, in the
// order of their injection.
func (s *Server) Injections() []*Injection {
	rules := s.api.Faults().Rules()
	out := make([]*Injection, len(rules))
	for i := range rules {
		out[i] = &Injection{rules[i : i+1]}
	}
	return out
}

// Hits returns how many requests, watches and webhook calls the faults have hit.
func (i *Injection) Hits() int {
	n := 0
	for _, r := range i.rules {
		n += r.Hits()
	}
	return n
}

// Remove ends the faults and their effects: delayed requests and paused watches
// continue. Hits keeps its value.
func (i *Injection) Remove() {
	for _, r := range i.rules {
		r.Remove()
	}
}

// Faults returns the injected faults. Their ID and Seed are set.
func (i *Injection) Faults() []faults.Fault {
	out := make([]faults.Fault, len(i.rules))
	for n, r := range i.rules {
		out[n] = r.Fault()
	}
	return out
}

// String returns a line for each fault with its number of hits: "update of pods:
// 409, once: hit 1 of 3". It says which resource the server does not serve: "update of
// pots: 409, once: hit 0 of 0 (no resource "pots")".
func (i *Injection) String() string {
	var text string
	for _, r := range i.rules {
		text += fmt.Sprintf("%s: hit %d of %d", r.Fault(), r.Hits(), r.Matched())
		if warning := r.Warning(); warning != "" {
			text += " (" + warning + ")"
		}
		text += "\n"
	}
	return printable.Text(text)
}

// Disconnect breaks the connections of the clients whose User-Agent header matches a
// pattern, such as "manager/*": those of their open watches, and those of their requests
// that wait in a fault. Other requests in flight are answered, and later ones are
// served. It returns the number of connections.
//
// It does to a client in this process what the end of a process does: cancel the
// client's context first.
func (s *Server) Disconnect(userAgent string) int { return s.api.Control().Disconnect(userAgent) }
