package serviceaccount

import (
	"context"
	"encoding/json"
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

	// SetLabel sets a label of a Secret, if that still exists. It returns when the label is set
	// or ctx ends. Nil sets none.
	SetLabel func(ctx context.Context, secret *storage.Object, name, value string)
}

// A Store reads the present state of a server.
type Store interface {
	// Newest returns the object at a key, nil if it does not exist.
	Newest(key string) *storage.Object
}

var _ authn.TokenAuthenticator = (*Tokens)(nil)

// coreGroup and webhookGroup are the API groups of what tokens are bound to.
const (
	coreGroup    = ""
	webhookGroup = "admissionregistration.k8s.io"
)

// newest returns an object and its type; no object if it does not exist.
func (t *Tokens) newest(group, resource, namespace, name string) (*resource.Type, *storage.Object) {
	typ := t.Types.Lookup(group, "v1", resource)
	if typ == nil {
		return nil, nil
	}
	return typ, t.Store.Newest(typ.Key(namespace, name))
}

// AuthenticateToken implements [authn.TokenAuthenticator].
func (t *Tokens) AuthenticateToken(ctx context.Context, token string, audiences []string) (*authn.User, []string, error) {
	c, err := t.Keys.verify(token)
	if c == nil || err != nil {
		return nil, nil, err
	}
	own := c.Audience
	if len(own) == 0 {
		own = t.Keys.Audiences()
	}
	common := authn.Intersect(own, audiences)
	if len(common) == 0 {
		return nil, nil, fmt.Errorf("token audiences %q is invalid for the target audiences %q", own, audiences)
	}
	user, err := t.userOf(ctx, token, c)
	if err != nil {
		return nil, nil, err
	}
	if len(c.Audience) == 0 {
		authn.Annotate(ctx, "authentication.k8s.io/legacy-token", c.Subject)
	}
	return user, common, nil
}

// userOf returns the user of a token with the claims c, whose signature and audiences were checked. A
// token that is not valid has no effect on ctx: kube-apiserver drops what it would report about it.
func (t *Tokens) userOf(ctx context.Context, token string, c *claims) (*authn.User, error) {
	if c.Issuer == legacyIssuer {
		return t.authenticateLegacy(ctx, token, c)
	}
	now := t.Now()
	if err := c.validAt(now); err != nil {
		return nil, err
	}
	if err := t.checkObjects(&c.Kubernetes); err != nil {
		return nil, err
	}
	if stale := now.Unix() - int64(c.Kubernetes.WarnAfter); c.Kubernetes.WarnAfter != 0 && now.After(c.Kubernetes.WarnAfter.time()) {
		authn.Annotate(ctx, "authentication.k8s.io/stale-token", fmt.Sprintf("subject: %s, seconds after warning threshold: %d", c.Subject, stale))
	}
	return c.user(), nil
}

// checkObjects fails if the service account, or an object that the token is
// bound to, was deleted or should have been.
func (t *Tokens) checkObjects(k *kubernetes) error {
	lately := t.Now().Add(-leeway)
	switch _, account := t.newest(coreGroup, "serviceaccounts", k.Namespace, k.Account.Name); {
	case k.Account.Name == "":
		return errors.New("resource name may not be empty")
	case k.Namespace == "":
		return errors.New("the server could not find the requested resource")
	case account == nil:
		return fmt.Errorf("serviceaccounts %q not found", k.Account.Name)
	case account.UID != k.Account.UID:
		return fmt.Errorf("service account UID (%s) does not match claim (%s)", account.UID, k.Account.UID)
	case deletedBefore(account, lately):
		return fmt.Errorf("service account %s/%s has been deleted", k.Namespace, k.Account.Name)
	}
	if k.boundToWebhook() && len(k.Attestations[reviewGroups]) == 0 {
		return fmt.Errorf("bound object was a webhook config, but %q attestation is missing", reviewGroups)
	}
	for _, bound := range []struct {
		ref                        *ref
		group, resource, namespace string
		name, claim                string // in errors
	}{
		{k.Secret, coreGroup, "secrets", k.Namespace, "secret", "secret"},
		{k.Pod, coreGroup, "pods", k.Namespace, "pod", "pod"},
		{k.boundNode(), coreGroup, "nodes", "", "node", "node"},
		{k.ValidatingWebhook, webhookGroup, "validatingwebhookconfigurations", "", "ValidatingWebhookConfiguration", "validating"},
		{k.MutatingWebhook, webhookGroup, "mutatingwebhookconfigurations", "", "MutatingWebhookConfiguration", "validating"},
	} {
		if bound.ref == nil {
			continue
		}
		switch _, o := t.newest(bound.group, bound.resource, bound.namespace, bound.ref.Name); {
		case o == nil:
			return errors.New("service account token has been invalidated")
		case o.UID != bound.ref.UID:
			return fmt.Errorf("%s UID (%s) does not match service account %s ref claim (%s)", bound.name, o.UID, bound.claim, bound.ref.UID)
		case deletedBefore(o, lately):
			return errors.New("service account token has been invalidated")
		}
	}
	return nil
}

// deletedBefore reports whether the deletionTimestamp of an object is before a time.
func deletedBefore(o *storage.Object, at time.Time) bool {
	if !o.Terminating {
		return false
	}
	var meta struct{ DeletionTimestamp time.Time }
	err := json.Unmarshal(o.Metadata(), &meta)
	return err == nil && meta.DeletionTimestamp.Before(at)
}
