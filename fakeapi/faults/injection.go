package faults

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/printable"
)

// An Injection is a handle on faults that were injected together. It is safe for concurrent
// use.
type Injection struct{ rules []Rule }

// A Rule is a fault in a server. The server implements it; a test has its Injection.
type Rule interface {
	// Fault returns the fault. Its ID and Seed are set.
	Fault() Fault

	// Matched returns how many requests, watches and webhook calls the fault has matched, and
	// Hits how many of them it has hit.
	Matched() int
	Hits() int

	// Warning returns that the server does not serve the resource; "" if it does.
	Warning() string

	// Remove ends the fault and its effects. Further calls do nothing.
	Remove()
}

// NewInjection returns a handle on faults. Package fakeapi calls it; a test calls
// Server.Inject.
func NewInjection(rules ...Rule) *Injection { return &Injection{rules} }

// Faults returns the injected faults. Their ID and Seed are set.
func (i *Injection) Faults() []Fault {
	out := make([]Fault, len(i.rules))
	for n, r := range i.rules {
		out[n] = r.Fault()
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

// String returns a line for each fault with its number of hits: "update of pods:
// 409, once: hit 1 of 3". It says which resource the server does not serve: "update of
// pots: 409, once: hit 0 of 0 (no resource "pots")".
func (i *Injection) String() string {
	var text strings.Builder
	for _, r := range i.rules {
		fmt.Fprintf(&text, "%s: hit %d of %d", r.Fault(), r.Hits(), r.Matched())
		if warning := r.Warning(); warning != "" {
			text.WriteString(" (" + warning + ")")
		}
		text.WriteString("\n")
	}
	return printable.Text(text.String())
}
