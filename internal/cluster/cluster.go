package cluster

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/bootstraptoken"
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
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/usage"
	"github.com/kubefake/kubefake/internal/webhook"
	"github.com/kubefake/kubefake/mvcc"
)

// Config configures a Cluster. Context, Release, Clock, Journal and Webhooks are
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
	// cluster; Changed must not write. Nil is not called.
	Changed func(t *resource.Type, names []string)

	// ServiceRanges are the ranges of cluster IPs, at most one of an IP family,
	// the default family first. Without any it is 10.0.0.0/24.
	ServiceRanges []netip.Prefix

	// NodePorts is the range of node ports; the zero value is 30000 to 32767.
	NodePorts allocator.PortRange

	// AdvertiseAddress is the endpoint of the Service default/kubernetes, of the family of the first
	// of ServiceRanges. Without it, and in place of a loopback address, it is one where nothing
	// listens.
	//
	// Differs from kube-apiserver: endpoint of the Service kubernetes: it is
	// 192.0.2.1 or 2001:db8::1, where nothing listens, unless --advertise-address is
	// not a loopback address, which an endpoint must not have. Request: GET
	// /api/v1/namespaces/default/endpoints/kubernetes.
	AdvertiseAddress netip.Addr

	// State is the state to continue; nil is that of a fresh cluster.
	State *storage.State

	// Port is the port of the Service default/kubernetes; 0 is 6443.
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
	// counted. Nil is a switch of the cluster's own, which its forks share.
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

	// BootstrapTokens says whether the tokens of Secrets in kube-system authenticate.
	BootstrapTokens bool

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

// A Cluster is the API of one or more API servers over the same objects. It is safe for concurrent
// use. Close it when done.
type Cluster struct {
	*registry.Registry
	config       Config
	firstReplica *Replica // of the first API server
	usage        usage.Recorder

	// definitionsMu is held during a write of definitions and until the Surfaces are in
	// line with it. It is acquired before the locks of the store.
	definitionsMu sync.Mutex

	// apiServicesMu is held while an APIService is updated from the definitions.
	apiServicesMu sync.Mutex

	// replicas are those of all API servers, the first one first. The slice is replaced under
	// definitionsMu.
	replicas atomic.Pointer[[]*Replica]

	reloading sync.Mutex // held while webhooks and policies are loaded from the store or from files

	flows flowClassifier

	initial *storage.Snapshot // the state of a fresh server, for Reset

	repairs       repairTimer
	flowRepairs   repairTimer
	finalizations finalizations
	elections     elections
	compaction    *clock.Ticker // nil without a schedule
}

// New returns a Cluster that holds what a fresh one does, or Config.State. It
// fails for a state that the release cannot have, wrong service ranges, unknown plugins, a wrong
// compaction schedule and a negative size of the history.
func New(config Config) (*Cluster, error) {
	plugins, err := config.Plugins.Chain(config.Release, serving.Builtin(config.Release))
	if err != nil {
		return nil, err
	}
	if err := allocator.CheckRanges(config.ServiceRanges); err != nil {
		return nil, err
	}
	if err := config.NodePorts.Check(); err != nil {
		return nil, err
	}
	if err := config.checkAddress(); err != nil {
		return nil, err
	}
	if config.Compaction.Every < 0 || config.Compaction.Keep < 0 {
		return nil, errors.New("the compaction schedule is negative")
	}
	if config.HistoryBytes < 0 {
		return nil, errors.New("the size of the history is negative")
	}
	if config.KeepHistory == 0 {
		config.KeepHistory = defaultKeepHistory
	}
	if config.Auth.ServiceAccounts == nil {
		config.Auth.ServiceAccounts = serviceaccount.NewKeys(serviceaccount.Config{})
	}
	source := ids.New(config.Seed)
	if config.State != nil {
		if err := config.continueFrom(config.State); err != nil {
			return nil, err
		}
		source.Diverge(config.State.Identity())
	}
	if config.HistoryBytes == 0 {
		config.HistoryBytes = defaultHistoryBytes
	}
	store, err := seedsOf(config.Release).store(config.Clock, config.historyLimits())
	if err != nil {
		return nil, err
	}
	c := newCluster(config, source, store, serving.NewAPI(config.Context, config.Release, plugins))
	if err := c.bootstrap(); err != nil {
		c.Close()
		return nil, err
	}
	if len(plugins.Manifests()) > 0 {
		c.reloadAdmission()
	}
	c.initial = c.Store().Snapshot()
	if config.State == nil {
		return c, nil
	}
	if err := c.load(config.State); err != nil {
		c.Close()
		return nil, err
	}
	c.config.State = nil // it is no longer needed
	c.upgradeServiceCIDR()
	if err := c.reconcileBootstrap(c.api()); err != nil {
		c.Journal().RecordNote(journal.Note{Kind: journal.State, Text: "the server's own objects are not brought in line: " + err.Error()})
	}
	return c, nil
}

// newCluster returns a Cluster whose API servers serve api, which gets its allocator.
func newCluster(config Config, source *ids.Source, store *storage.Store, api *serving.API) *Cluster {
	if config.Coverage == nil {
		config.Coverage = &coverage.Switch{}
	}
	c := &Cluster{config: config}
	c.firstReplica = &Replica{cluster: c, store: store}
	c.replicas.Store(&[]*Replica{c.firstReplica})
	c.Registry = c.newRegistry(source, store, api.Builtin)
	api.Allocator = c.newAllocator(api)
	c.firstReplica.api.Store(api)
	store.OnCompaction((*budget)(c))
	config.Journal.Limit(max(config.HistoryBytes/4, minJournalBytes))
	if every := config.Compaction.Every; every > 0 {
		c.compaction = config.Clock.Every(every, c.compactOnSchedule)
	}
	return c
}

// newRegistry returns the Registry of the cluster, with what identifies and authorizes users.
func (c *Cluster) newRegistry(source *ids.Source, store *storage.Store, types *resource.Types) *registry.Registry {
	config, auth := &c.config, &c.config.Auth
	now := config.Clock.Now // one closure for all
	tokens := &serviceaccount.Tokens{Keys: auth.ServiceAccounts, Types: types, Store: store, Now: now, NewUID: source.UID, SetLabel: c.labelSecret}
	authenticator := &authn.Authenticator{Config: auth.Config, Now: now, ServiceAccounts: tokens, Audiences: auth.ServiceAccounts.Audiences()}
	if auth.BootstrapTokens {
		authenticator.Further = append(authenticator.Further, newBootstrapTokens(types, store, now, authenticator.Audiences))
	}
	if auth.Issuers != nil {
		authenticator.Further = append(authenticator.Further, oidc.New(config.Context, config.Clock, auth.Issuers, authenticator.Audiences))
	}
	if auth.TokenWebhook != nil {
		authenticator.Further = append(authenticator.Further, tokenwebhook.New(auth.TokenWebhook, config.Webhooks, authenticator.Audiences))
	}
	policy := &authz.StorePolicy{Types: types, Store: store}
	authorizer := authz.Authorizer{Policy: policy}
	if auth.Modes != nil {
		authorizer.Modes = auth.Modes.Modes(chain.Server{
			Policy: policy, Webhooks: config.Webhooks, NamesAuthorizers: config.Release.Has(behavior.NamesAuthorizers),
			Node: &node.Mode{Types: types, Store: store, Release: config.Release},
		})
	}
	return registry.New(registry.Config{
		Context: config.Context, Clock: config.Clock, Store: store, IDs: source, Journal: config.Journal, Webhooks: config.Webhooks,
		Authenticator: authenticator, Authorizer: authorizer, Tokens: tokens,
		EventTTL: config.EventTTL, Pace: config.Pace, Follower: follower{c},
	})
}

// newBootstrapTokens returns the authenticator of the bootstrap tokens in a store.
func newBootstrapTokens(types *resource.Types, store *storage.Store, now func() time.Time, audiences []string) *bootstraptoken.Authenticator {
	secrets := types.Lookup("", "v1", "secrets")
	secret := func(name string) object.View {
		if o := store.Newest(secrets.Key(bootstraptoken.Namespace, name)); o != nil {
			return object.ViewOf(o.Decode(secrets))
		}
		return object.View{}
	}
	return &bootstraptoken.Authenticator{Secret: secret, Now: now, Audiences: audiences}
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

// Fork returns a Cluster of the same state, history and configuration. The two
// share nothing that changes. It takes constant time. The fork does nothing by itself
// before Resume.
func (c *Cluster) Fork(of Forked) *Cluster {
	config := c.config
	config.Context, config.Clock, config.Journal, config.Webhooks, config.Changed = of.Context, of.Clock, of.Journal, of.Webhooks, of.Changed
	c.definitionsMu.Lock()
	store, api := c.Store().Fork(of.Clock, config.historyLimits()), c.api().Fork(of.Context)
	c.definitionsMu.Unlock()
	config.Release = api.Release
	api.Manifests = c.Manifests()
	out := newCluster(config, c.IDs().Fork(of.Name), store, api)
	out.Store().CopyLags(c.Store())
	out.usage.Inherit(&c.usage)
	out.CopyExpiries(c.Registry)
	out.copyRepairs(c)
	out.initial = c.initial
	out.reloadWebhookConversions()
	out.copyFinalization()
	out.copyElections(c)
	return out
}

// changed calls Config.Changed.
func (c *Cluster) changed(t *resource.Type, names []string) {
	if c.config.Changed != nil {
		c.config.Changed(t, names)
	}
}

// Close ends timers and what the cluster does by itself.
func (c *Cluster) Close() {
	c.Store().Close()
	c.Registry.Close()
	c.repairs.close()
	c.flowRepairs.close()
	c.finalizations.close()
	c.elections.close()
	if c.compaction != nil {
		c.compaction.Stop()
	}
}

// api returns the API that the first API server serves.
func (c *Cluster) api() *serving.API { return c.firstReplica.api.Load() }

// apis returns the APIs of the API servers, that of the first one first.
func (c *Cluster) apis() []*serving.API {
	var out []*serving.API
	for _, r := range *c.replicas.Load() {
		if a := r.api.Load(); !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// Surface returns the types that the first API server serves now.
func (c *Cluster) Surface() *serving.Surface { return c.firstReplica.Surface() }

// ServiceAccountKeys returns the keys of service account tokens.
func (c *Cluster) ServiceAccountKeys() *serviceaccount.Keys { return c.config.Auth.ServiceAccounts }

// FreshRevision returns the revision of the fresh server.
func (c *Cluster) FreshRevision() mvcc.Revision { return c.initial.Revision() }

// now returns the time in the form that metadata has it.
func (c *Cluster) now() string { return clock.Timestamp(c.Clock().Now()) }
