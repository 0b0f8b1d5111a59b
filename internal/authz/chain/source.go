package chain

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
)

// A Source holds a Chain that may be replaced while servers use it. It is safe for
// concurrent use.
type Source struct {
	first   *Chain
	current atomic.Pointer[Chain]
}

// NewSource returns a Source of a Chain.
func NewSource(c *Chain) *Source {
	s := &Source{first: c}
	s.current.Store(c)
	return s
}

// Replace replaces the Chain. It fails if the first Chain has a mode that c does not have, and
// if c has Node, ABAC or RBAC and the first Chain does not. The errors are those of
// kube-apiserver.
func (s *Source) Replace(c *Chain) error {
	if missing := s.first.without(c); len(missing) > 0 {
		return fmt.Errorf("missing required types: %v", missing)
	}
	for _, name := range c.without(s.first) {
		if name != typeAlwaysAllow && name != typeAlwaysDeny {
			return fmt.Errorf("authorizer type %s is not allowed if it was not enabled at initial server startup", name)
		}
	}
	s.current.Store(c)
	return nil
}

// without returns the names of the modes that other does not have, sorted. It does not return
// webhooks.
func (c *Chain) without(other *Chain) (names []string) {
	for _, m := range c.modes {
		has := func(o mode) bool { return o.name == m.name }
		if m.name != typeWebhook && !slices.ContainsFunc(other.modes, has) {
			names = append(names, m.name)
		}
	}
	slices.Sort(names)
	return names
}

// Modes returns the modes of one server, as [Chain.Modes] does, of the newest Chain.
func (s *Source) Modes(server Server) []authz.Mode {
	return []authz.Mode{&newest{source: s, server: server}}
}

// newest is the mode of one server that decides as the modes of the newest Chain do.
type newest struct {
	source *Source
	server Server

	mu    sync.Mutex // held while built changes
	built atomic.Pointer[built]
}

// built are the modes of a Chain.
type built struct {
	chain *Chain
	modes []authz.Mode
}

// modes returns the modes of the newest Chain.
func (n *newest) modes() []authz.Mode {
	c := n.source.current.Load()
	if b := n.built.Load(); b != nil && b.chain == c {
		return b.modes
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.built.Load()
	if b == nil || b.chain != c {
		b = &built{c, c.Modes(n.server)}
		n.built.Store(b)
	}
	return b.modes
}

// Authorize implements [authz.Mode].
func (n *newest) Authorize(ctx context.Context, u *authn.User, at *authz.Attributes) authz.Decision {
	return authz.Decide(ctx, n.modes(), u, at)
}

// Rules implements [authz.Mode].
func (n *newest) Rules(u *authn.User, namespace string) (rules []authz.Rule, errs []error) {
	return authz.Authorizer{Modes: n.modes()}.Rules(u, namespace)
}
