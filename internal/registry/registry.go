package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/ids"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/metrics"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/webhook"
	"github.com/kubefake/kubefake/mvcc"
)

// Config is what a Registry works with. All fields but EventTTL and Pace are required.
type Config struct {
	// Context ends with the server. The server's own writes use it.
	Context context.Context

	Clock *clock.Clock
	Store *storage.Store

	// IDs makes UIDs and generated names.
	IDs *ids.Source

	// Journal records who wrote what.
	Journal *journal.Journal

	// Webhooks calls the webhooks of admission and conversion.
	Webhooks *webhook.Client

	Authenticator *authn.Authenticator
	Authorizer    authz.Authorizer
	Tokens        *serviceaccount.Tokens

	// EventTTL is how long an event lives after its last write; 0 is an hour, as
	// in kube-apiserver.
	EventTTL time.Duration

	// Pace is the time between two writes of an object by one request; 0 is none. It is not
	// kept on a manual clock.
	Pace time.Duration

	Follower Follower
}

// A Follower updates what a server serves, and what it does by itself, after each write. It is
// called by many goroutines.
type Follower interface {
	// Surface returns what the first API server serves.
	Surface() *serving.Surface

	// Begin is called before a transaction that writes objects of a type, and end when all is done:
	// after Committed or, if the transaction fails, without it. follows is Request.Follows.
	Begin(t *resource.Type, follows bool) (end func())

	// Committed is called after a transaction. A client has its answer when it returns.
	Committed(w Write)
}

// A Write is a transaction that has written.
type Write struct {
	// Type, Surface and Follows are those of the request.
	Type    *resource.Type
	Surface *serving.Surface
	Follows bool

	// Events are of objects of the type and of those that go with them, such as the IPAddresses of
	// a Service.
	Events []mvcc.Event[*storage.Object]
}

// A Registry writes and reads the objects of one API server. It is safe for concurrent use.
// Close it when done.
type Registry struct {
	lifetime      context.Context // of the server
	eventTTL      time.Duration
	pace          time.Duration
	clock         *clock.Clock
	store         *storage.Store
	ids           *ids.Source
	journal       *journal.Journal
	webhooks      *webhook.Client
	authorizer    authz.Authorizer
	authenticator *authn.Authenticator
	tokens        *serviceaccount.Tokens // of service accounts
	follower      Follower

	counts     metrics.Values // of plugins and strategies
	prototypes prototypesByType
	expiries   expiries
}

// New returns a Registry.
func New(c Config) *Registry {
	return &Registry{
		lifetime:      c.Context,
		eventTTL:      cmp.Or(c.EventTTL, defaultEventTTL),
		pace:          c.Pace,
		clock:         c.Clock,
		store:         c.Store,
		ids:           c.IDs,
		journal:       c.Journal,
		webhooks:      c.Webhooks,
		authorizer:    c.Authorizer,
		authenticator: c.Authenticator,
		tokens:        c.Tokens,
		follower:      c.Follower,
	}
}

// Close ends what the registry does by itself, which is the expiry of objects.
func (g *Registry) Close() { g.expiries.close() }

// Store returns the objects and their history.
func (g *Registry) Store() *storage.Store { return g.store }

// Context returns the context of the writes that no client asks for. It ends with the
// server.
func (g *Registry) Context() context.Context { return g.lifetime }

// Clock returns the time of the registry.
func (g *Registry) Clock() *clock.Clock { return g.clock }

// IDs returns the source of UIDs and random numbers. What no object has is drawn from a fork
// of it, so that a seed and the writes determine the objects.
func (g *Registry) IDs() *ids.Source { return g.ids }

// Journal returns the record of what happened.
func (g *Registry) Journal() *journal.Journal { return g.journal }

// Authenticator returns what identifies users by their credentials.
func (g *Registry) Authenticator() *authn.Authenticator { return g.authenticator }

// Authorizer returns what decides who may do what.
func (g *Registry) Authorizer() authz.Authorizer { return g.authorizer }

// ErrNotFound is returned for objects and resources that do not exist.
var ErrNotFound = errors.New("not found")

// NotFound returns an ErrNotFound that names what does not exist.
func NotFound(what string) error { return fmt.Errorf("%w: %s", ErrNotFound, what) }

// TypeByName returns the stored type of a resource, which is named as by
// resource.Types.Find. It fails with ErrNotFound.
func (g *Registry) TypeByName(name string) (*resource.Type, error) {
	served := g.follower.Surface()
	t := served.Find(name)
	switch {
	case t != nil && !t.Virtual():
		return t, nil
	case t == nil && served.Meant(name) != "":
		return nil, NotFound("resource " + name + "; did you mean " + served.Meant(name) + "?")
	}
	return nil, NotFound("resource " + name)
}
