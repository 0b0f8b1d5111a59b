package serviceaccount

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// Tokens issues and verifies the tokens of one server. It is safe for concurrent
// use.
type Tokens struct {
	Keys   *Keys
	Types  *resource.Types // with the types of the core group
	Store  Store
	Now    func() time.Time
	NewUID func() string
}

// A Store reads the present state of a server.
type Store interface {
	// Newest returns the object at a key, nil if it does not exist.
	Newest(key string) *storage.Object
}

var _ authn.TokenAuthenticator = (*Tokens)(nil)

// newest returns an object of the core group, nil if it does not exist.
func (t *Tokens) newest(resource, namespace, name string) *storage.Object {
	typ := t.Types.Lookup("", "v1", resource)
	if typ == nil {
		return nil
	}
	return t.Store.Newest(typ.Key(namespace, name))
}

// AuthenticateToken implements [authn.TokenAuthenticator].
func (t *Tokens) AuthenticateToken(_ context.Context, token string, audiences []string) (*authn.User, []string, error) {
	c, err := t.Keys.verify(token)
	if c == nil || err != nil {
		return nil, nil, err
	}
	common := authn.Intersect(c.Audience, audiences)
	if len(common) == 0 {
		return nil, nil, fmt.Errorf("token audiences %q is invalid for the target audiences %q", c.Audience, audiences)
	}
	if err := c.validAt(t.Now()); err != nil {
		return nil, nil, err
	}
	if err := t.checkObjects(&c.Kubernetes); err != nil {
		return nil, nil, err
	}
	return c.user(), common, nil
}

// checkObjects fails if the service account, or an object that the token is
// bound to, was deleted.
func (t *Tokens) checkObjects(k *accountClaims) error {
	account := t.newest("serviceaccounts", k.Namespace, k.Account.Name)
	switch {
	case account == nil:
		return fmt.Errorf("serviceaccounts %q not found", k.Account.Name)
	case account.UID != k.Account.UID:
		return fmt.Errorf("service account UID (%s) does not match claim (%s)", account.UID, k.Account.UID)
	}
	for _, bound := range []struct {
		ref                       *ref
		resource, namespace, name string
	}{
		{k.Secret, "secrets", k.Namespace, "secret"},
		{k.Pod, "pods", k.Namespace, "pod"},
		{k.boundNode(), "nodes", "", "node"},
	} {
		if bound.ref == nil {
			continue
		}
		switch o := t.newest(bound.resource, bound.namespace, bound.ref.Name); {
		case o == nil:
			return errors.New("service account token has been invalidated")
		case o.UID != bound.ref.UID:
			return fmt.Errorf("%[1]s UID (%[2]s) does not match service account %[1]s ref claim (%[3]s)", bound.name, o.UID, bound.ref.UID)
		}
	}
	return nil
}
