package authz

import (
	"context"

	"github.com/kubefake/kubefake/internal/authn"
)

// Needs is a mode that allows everything but what has a wildcard, and records it: what a check
// needs in single permissions. It is not safe for concurrent use.
type Needs []Attributes

var _ Mode = (*Needs)(nil)

// Authorize implements [Mode].
func (n *Needs) Authorize(_ context.Context, _ *authn.User, at *Attributes) Decision {
	if at.Group == all || at.Resource == all || at.Name == all {
		return Decision{}
	}
	*n = append(*n, *at)
	return Decision{Allowed: true}
}

// Rules implements [Mode].
func (n *Needs) Rules(*authn.User, string) ([]Rule, []error) { return nil, nil }
