package registry

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/oidc"
	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
	"github.com/kubefake/kubefake/internal/authn/tokenwebhook"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/authz/chain"
	"github.com/kubefake/kubefake/internal/authz/node"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/coverage"
	"github.com/kubefake/kubefake/internal/ids"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/metrics"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/usage"
	"github.com/kubefake/kubefake/internal/webhook"
	"github.com/kubefake/kubefake/mvcc"
)

// Config configures a Registry. Context, Release, Clock, Journal and Webhooks are
// required.
type Config struct {
	// Context ends with the server. The server's own writes use it.
	Context context.Context

	Release *release.Release
	Clock   *clock.Clock

	// Seed makes UIDs and generated names the same in every run; 0 makes them
	// random.
	Seed uint64

	// Journal records who wrote what.
	Journal *journal.Journal

	// Webhooks calls the webhooks of admission and conversion.
	Webhooks *webhook.Client

	Auth Auth

	// Plugins selects the admission plugins.
	Plugins plugin.Selection

	// Changed is called after a write to objects of a type, with the names of definitions and
	// APIServices, and with nil after one to objects of any types. The caller may hold locks of the
	// registry; Changed must not write. Nil is not called.
	Changed func(t *resource.Type, names []string)

	// ServiceRanges are the ranges of cluster IPs, at most one of an IP family,
	// the default family first. Without any it is 10.0.0.0/24.
	ServiceRanges []netip.Prefix

	// State is the state to continue; nil is that of a fresh cluster.
	State *storage.State

	// Port is the port of the Service default/kubernetes; 0 is 6443.
	//
	// Differs from kube-apiserver: endpoint of the Service kubernetes: it is
	// 192.0.2.1 or 2001:db8::1, where nothing listens, because an endpoint must
	// not have a loopback address. Request: GET
	// /api/v1/namespaces/default/endpoints/kubernetes.
	Port int

	// KeepHistory is how long old versions are kept; 0 is five minutes, like
	// kube-apiserver's default compaction interval.
	KeepHistory time.Duration

	// HistoryBytes is how much memory old versions occupy at most, in bytes; 0 is
	// 256 MiB. A write that exceeds it compacts the history. The journal has a
	// quarter of it, but at least 4 MiB.
	//
	// Differs from kube-apiserver: size of the history: kube-apiserver keeps up to
	// 102,400 events of each resource in its watch caches, and what etcd has room
	// for. Here the history of all resources has a number of bytes, and is compacted
	// if it exceeds them. Request: watch from a resourceVersion before 256 MiB of
	// updates.
	HistoryBytes int64

	// Compaction compacts history on a schedule.
	Compaction Compaction

	// EventTTL is how long an event lives after its last write; 0 is an hour, as
	// in kube-apiserver.
	EventTTL time.Duration

	// Coverage says whether the results of the expressions of policies and definitions are
	// counted. Nil is a switch of the registry's own, which its forks share.
	Coverage *coverage.Switch

	// Pace is the time between two writes of an object by one request; 0 is none. It is not
	// kept on a manual clock.
	Pace time.Duration
}

// Auth configures authentication and authorization. With the zero value every
// client is an administrator.
type Auth struct {
	// Config has the credentials that the server accepts.
	authn.Config

	// ServiceAccounts are the keys of service account tokens. Nil means those of
	// the zero serviceaccount.Config.
	ServiceAccounts *serviceaccount.Keys

	// Issuers issue further tokens; nil for none.
	Issuers *oidc.Source

	// TokenWebhook authenticates further tokens; nil for none.
	TokenWebhook *tokenwebhook.Config

	// Modes authorize requests. Without them every user may do everything.
	Modes *chain.Source
}

const (
	defaultKeepHistory  = 5 * time.Minute
	defaultHistoryBytes = 256 << 20
)

// A Registry holds the objects of one API server. It is safe for concurrent use.
// Close it when done.
type Registry struct {
	config     Config
	clock      *clock.Clock
	store      *storage.Store
	front      *Front // of the first API server
	ids        *ids.Source
	journal    *journal.Journal
	counts     metrics.Values // of plugins and strategies
	webhooks   *webhook.Client
	coverage   *coverage.Switch
	usage      usage.Recorder
	authorizer authz.Authorizer

	authenticator *authn.Authenticator
	tokens        *serviceaccount.Tokens // of service accounts

	// definitionsMu is held during a write of definitions and until the Surfaces are in
	// line with it. It is acquired before the locks of the store.
	definitionsMu sync.Mutex

	// apiServicesMu is held while an APIService is brought in line with the definitions.
	apiServicesMu sync.Mutex

	// fronts are those of all API servers, the first one first. The slice is replaced under
	// definitionsMu.
	fronts atomic.Pointer[[]*Front]

	reloading sync.Mutex // held while admission configuration is brought in line with the store
	flows     flowClassifier

	initial *storage.Snapshot // the state of a fresh server, for Reset

	expiries      expiries
	repairs       repairTimer
	flowRepairs   repairTimer
	finalizations finalizations
	compaction    *clock.Ticker // nil without a schedule
}

// New returns a Registry that holds what a fresh cluster does, or Config.State. It
// fails for a state that the release cannot have, wrong service ranges, unknown plugins, a wrong compaction schedule and a negative size of
// the history.
func New(c Config) (*Registry, error) {
	plugins, err := c.Plugins.Chain(c.Release, baseOf(c.Release).types)
	if err != nil {
		return nil, err
	}
	if err := allocator.CheckRanges(c.ServiceRanges); err != nil {
		return nil, err
	}
	if c.Compaction.Every < 0 || c.Compaction.Keep < 0 {
		return nil, errors.New("the compaction schedule is negative")
	}
	if c.HistoryBytes < 0 {
		return nil, errors.New("the size of the history is negative")
	}
	if c.KeepHistory == 0 {
		c.KeepHistory = defaultKeepHistory
	}
	if c.Auth.ServiceAccounts == nil {
		c.Auth.ServiceAccounts = serviceaccount.NewKeys(serviceaccount.Config{})
	}
	source := ids.New(c.Seed)
	if c.State != nil {
		if err := c.continueFrom(c.State); err != nil {
			return nil, err
		}
		source.Diverge(c.State.Identity())
	}
	if c.HistoryBytes == 0 {
		c.HistoryBytes = defaultHistoryBytes
	}
	if c.EventTTL == 0 {
		c.EventTTL = defaultEventTTL
	}
	store, err := baseOf(c.Release).seeds.store(c.Clock, c.historyLimits())
	if err != nil {
		return nil, err
	}
	g := newRegistry(c, source, plugins, store, builtinSurface(c.Release))
	if err := g.bootstrap(); err != nil {
		g.Close()
		return nil, err
	}
	if len(plugins.Manifests()) > 0 {
		g.reloadAdmission()
	}
	g.initial = g.store.Snapshot()
	if c.State == nil {
		return g, nil
	}
	if err := g.load(c.State); err != nil {
		g.Close()
		return nil, err
	}
	g.config.State = nil // it is no longer needed
	g.upgradeServiceCIDR()
	if err := g.reconcileBootstrap(g.front.api.Load()); err != nil {
		g.journal.RecordNote(journal.Note{Kind: journal.State, Text: "the server's own objects are not brought in line: " + err.Error()})
	}
	return g, nil
}

func newRegistry(c Config, source *ids.Source, plugins *plugin.Chain, store *storage.Store, served *Surface) *Registry {
	if c.Coverage == nil {
		c.Coverage = &coverage.Switch{}
	}
	g := &Registry{
		config:   c,
		clock:    c.Clock,
		store:    store,
		ids:      source,
		journal:  c.Journal,
		webhooks: c.Webhooks,
		coverage: c.Coverage,
	}
	g.front = &Front{registry: g, store: store}
	g.fronts.Store(&[]*Front{g.front})
	g.front.api.Store(g.newReleaseAPI(plugins, served))
	base := served.base
	store.OnCompaction((*budget)(g))
	c.Journal.Limit(max(c.HistoryBytes/4, minJournalBytes))
	now := c.Clock.Now // one closure for all
	g.tokens = &serviceaccount.Tokens{Keys: c.Auth.ServiceAccounts, Types: base.types, Store: store, Now: now, NewUID: g.ids.UID}
	g.authenticator = &authn.Authenticator{Config: c.Auth.Config, Now: now, ServiceAccounts: g.tokens, Audiences: c.Auth.ServiceAccounts.Audiences()}
	if c.Auth.Issuers != nil {
		g.authenticator.Remote = append(g.authenticator.Remote, oidc.New(c.Context, c.Clock, c.Auth.Issuers, g.authenticator.Audiences))
	}
	if c.Auth.TokenWebhook != nil {
		g.authenticator.Remote = append(g.authenticator.Remote, tokenwebhook.New(c.Auth.TokenWebhook, c.Webhooks, g.authenticator.Audiences))
	}
	policy := &authz.StorePolicy{Types: base.types, Store: store}
	g.authorizer.Policy = policy
	if c.Auth.Modes != nil {
		g.authorizer.Modes = c.Auth.Modes.Modes(chain.Server{
			Policy: policy, Webhooks: c.Webhooks, NamesAuthorizers: c.Release.Has(behavior.NamesAuthorizers),
			Node: &node.Mode{Types: base.types, Store: store, Release: c.Release},
		})
	}
	if every := c.Compaction.Every; every > 0 {
		g.compaction = c.Clock.Every(every, g.compactOnSchedule)
	}
	return g
}

// Forked has what a fork has of its own. The fields are those of Config.
type Forked struct {
	// Name determines, with a seed, the UIDs and generated names of the fork, together with
	// the number of earlier forks of its name.
	Name string

	Context  context.Context
	Clock    *clock.Clock
	Journal  *journal.Journal
	Webhooks *webhook.Client
	Changed  func(t *resource.Type, names []string)
}

// Fork returns a Registry of the same state, history and configuration. The two
// share nothing that changes. It takes constant time. The fork does nothing by itself
// before Resume.
func (g *Registry) Fork(of Forked) *Registry {
	config, c := g.config, of.Clock
	config.Context, config.Clock, config.Journal, config.Webhooks, config.Changed = of.Context, c, of.Journal, of.Webhooks, of.Changed
	g.definitionsMu.Lock()
	store, api := g.store.Fork(c, config.historyLimits()), g.api()
	served := api.served.Load()
	g.definitionsMu.Unlock()
	config.Release = served.Release()
	out := newRegistry(config, g.ids.Fork(of.Name), api.plugins, store, served)
	out.store.CopyLags(g.store)
	out.usage.Inherit(&g.usage)
	out.copyExpiries(g)
	out.copyRepairs(g)
	out.initial = g.initial
	out.api().configured.Store(api.configured.Load())
	out.api().manifests = g.Manifests()
	out.reloadWebhookConversions()
	out.copyFinalization()
	return out
}

// changed calls Config.Changed.
func (g *Registry) changed(t *resource.Type, names []string) {
	if g.config.Changed != nil {
		g.config.Changed(t, names)
	}
}

// Close ends timers and what the registry does by itself.
func (g *Registry) Close() {
	g.store.Close()
	g.expiries.close()
	g.repairs.close()
	g.flowRepairs.close()
	g.finalizations.close()
	if g.compaction != nil {
		g.compaction.Stop()
	}
}

// api returns the API that the first API server serves.
func (g *Registry) api() *releaseAPI { return g.front.api.Load() }

// Surface returns the types that the first API server serves now.
func (g *Registry) Surface() *Surface { return g.front.Surface() }

// Store returns the objects and their history.
func (g *Registry) Store() *storage.Store { return g.store }

// Context returns the context of the writes that no client asks for. It ends with the
// server.
func (g *Registry) Context() context.Context { return g.config.Context }

// Clock returns the time of the registry.
func (g *Registry) Clock() *clock.Clock { return g.clock }

// IDs returns the source of UIDs and random numbers. What no object has is drawn from a fork
// of it, so that a seed and the writes determine the objects.
func (g *Registry) IDs() *ids.Source { return g.ids }

// Journal returns the record of what happened.
func (g *Registry) Journal() *journal.Journal { return g.journal }

// Authenticator returns what identifies users by their credentials.
func (g *Registry) Authenticator() *authn.Authenticator { return g.authenticator }

// ServiceAccountKeys returns the keys of service account tokens.
func (g *Registry) ServiceAccountKeys() *serviceaccount.Keys { return g.config.Auth.ServiceAccounts }

// Authorizer returns what decides who may do what.
func (g *Registry) Authorizer() authz.Authorizer { return g.authorizer }

// FreshRevision returns the revision of the fresh server.
func (g *Registry) FreshRevision() mvcc.Revision { return g.initial.Revision() }

// typeByName returns the stored type of a resource, which is named as by
// resource.Types.Find. It fails with ErrNotFound.
func (g *Registry) typeByName(name string) (*resource.Type, error) {
	served := g.Surface()
	t := served.Find(name)
	switch {
	case t != nil && !t.Virtual():
		return t, nil
	case t == nil && served.Meant(name) != "":
		return nil, notFound("resource " + name + "; did you mean " + served.Meant(name) + "?")
	}
	return nil, notFound("resource " + name)
}
