package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/discovery"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/openapi"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/wire"
	"github.com/kubefake/kubefake/mvcc"
)

// Config says how a Server is to be. The zero value is a server of the default
// profile where everybody is an administrator.
type Config struct {
	// Release is what the server serves; nil is release.Default.
	Release *release.Release

	// Clock is the server's time; nil runs with the wall clock.
	Clock *clock.Clock

	// Seed makes UIDs and generated names the same every time; 0 makes them
	// random.
	Seed uint64

	// ServiceRanges are where the cluster IPs of services are from, at most one
	// range of an IP family, the default family first; none is 10.0.0.0/24.
	ServiceRanges []netip.Prefix

	// Port is where the Service kubernetes in the namespace default leads to; 0
	// is 6443.
	//
	// Differs from kube-apiserver: the endpoint of the Service kubernetes is 192.0.2.1
	// or 2001:db8::1, which lead nowhere: no endpoint may be an address of a loopback.
	Port int

	// Auth says who may ask for what.
	Auth Auth

	// KeepHistory is how long old versions are kept; 0 is five minutes, as
	// kube-apiserver's default interval of compaction.
	KeepHistory time.Duration

	// Compaction is when history is compacted beside that.
	Compaction Compaction

	// EventTTL is how long an event lives after it was last written; 0 is an
	// hour, as kube-apiserver has it.
	EventTTL time.Duration

	// Services are the addresses at which services' webhooks are reached, by
	// "namespace/name". The map must not change any more.
	Services map[string]string

	// NoControl turns the control endpoint off.
	NoControl bool

	// Faults are injected from the start.
	Faults []fault.Fault

	// FeatureGates are the features turned on and off by the names of their
	// gates. The map must not change any more.
	FeatureGates map[string]bool
}

const defaultKeepHistory = 5 * time.Minute

// A Server is an API server: an http.Handler, and the same verbs as methods.
// It is safe for concurrent use. Close it when done.
type Server struct {
	config   Config
	clock    *clock.Clock
	store    *storage.Store
	surface  *surface
	served   atomic.Pointer[served]
	settling sync.Mutex // held by who brings served in line with the store

	configuring sync.Mutex // held by who brings admission in line with the store
	admission   atomic.Pointer[admission.Snapshot]
	plugins     *plugin.Chain

	authenticator *authn.Authenticator
	tokens        *serviceaccount.Tokens
	authorizer    authz.RBAC
	allocator     *allocator.Allocator

	ids     *ids
	journal *journal.Journal
	faults  *fault.Set
	metrics *metrics
	started time.Time
	decoded decodedCache
	initial *storage.Store // the state before the first request, for Reset

	snapshots sync.Map // of names to *storage.Store

	expiries   expiries
	upkeep     upkeep
	compaction *clock.Ticker // nil if there is none

	// ctx ends with the server; watches and waiting reads end with it.
	ctx    context.Context
	cancel context.CancelFunc
}

// A surface is what a profile serves, made once per process and profile.
type surface struct {
	release   *release.Release
	registry  *resource.Registry
	documents *discovery.Documents
	discovery discovery.Surface // what documents are made of
	openapi   []*openapi.Document
	owners    *owners
	seeds     *seeds
	parsed    *storage.ParseCache
}

var surfaces sync.Map // of *release.Release to func() *surface

func surfaceOf(p *release.Release) *surface {
	once, ok := surfaces.Load(p)
	if !ok {
		once, _ = surfaces.LoadOrStore(p, sync.OnceValue(func() *surface {
			documents := discovery.Surface{
				Builtin: p.GroupVersions(),
				Types:   p.Types(),
				Paths:   rootPaths(p.GroupVersions()),
				Encodings: []discovery.Encoding{
					{MediaType: codec.YAML.MediaType(), Convert: encodeDiscovery(codec.YAML)},
					{MediaType: codec.Protobuf.MediaType(), Convert: encodeDiscovery(codec.Protobuf)},
				},
			}
			types := kinds.Types(p.Types())
			kinds.Deprecate(types, p.Minor())
			registry := resource.NewRegistry(types)
			return &surface{
				release:   p,
				registry:  registry,
				documents: discovery.New(documents),
				discovery: documents,
				openapi:   openapiOf(p),
				owners:    newOwners(p),
				seeds:     newSeeds(registry),
				parsed:    &storage.ParseCache{},
			}
		}))
	}
	return once.(func() *surface)()
}

// encodeDiscovery puts discovery documents into a format.
func encodeDiscovery(f codec.Format) func(doc []byte) ([]byte, error) {
	return func(doc []byte) ([]byte, error) {
		apiVersion, kind, err := wire.Identify(doc)
		if err != nil {
			return nil, err
		}
		group, version, found := strings.Cut(apiVersion, "/")
		if !found {
			group, version = "meta.k8s.io", "v1"
		}
		t, ok := wire.ForKind(group, version, kind)
		if !ok {
			return nil, fmt.Errorf("no type is known for %s of %s", kind, apiVersion)
		}
		return f.Append(nil, doc, t), nil
	}
}

func openapiOf(p *release.Release) []*openapi.Document {
	paths := p.OpenAPIPaths()
	out := make([]*openapi.Document, len(paths))
	for i, path := range paths {
		out[i] = openapi.NewDocument(path, p.OpenAPIHash(path), func() ([]byte, error) { return p.OpenAPI(path) })
	}
	return out
}

var _ http.Handler = (*Server)(nil)

// New returns a server that holds what a fresh cluster does. It fails if the
// profile cannot be opened, and for an unknown feature gate, wrong ranges of
// service addresses, a wrong schedule of compaction or a wrong fault.
func New(c Config) (*Server, error) {
	if err := CheckFeatureGates(c.FeatureGates); err != nil {
		return nil, err
	}
	if err := allocator.CheckRanges(c.ServiceRanges); err != nil {
		return nil, err
	}
	if c.Compaction.Every < 0 || c.Compaction.Keep < 0 {
		return nil, errors.New("history is not compacted at negative times")
	}
	if c.Release == nil {
		p, err := release.Open("")
		if err != nil {
			return nil, err
		}
		c.Release = p
	}
	if c.Clock == nil {
		c.Clock = clock.New()
	}
	if c.KeepHistory == 0 {
		c.KeepHistory = defaultKeepHistory
	}
	if c.EventTTL == 0 {
		c.EventTTL = defaultEventTTL
	}
	store, err := surfaceOf(c.Release).seeds.store(c.Clock, c.KeepHistory)
	if err != nil {
		return nil, err
	}
	s := newServer(c, store)
	if err := s.bootstrap(); err != nil {
		return nil, err
	}
	s.initial = s.store.Fork(c.Clock)
	if _, err := s.faults.Inject(c.Faults...); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func newServer(c Config, store *storage.Store) *Server {
	s := &Server{
		config:  c,
		clock:   c.Clock,
		store:   store,
		surface: surfaceOf(c.Release),
		ids:     newIDs(c.Seed),
		journal: journal.New(c.Clock.Now),
		metrics: newMetrics(),
		plugins: plugin.Default(),
		started: c.Clock.Now(),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.faults = fault.NewSet(fault.Options{Clock: c.Clock, Seed: c.Seed, Done: s.ctx.Done(), OnHit: s.noteFault})
	s.tokens = &serviceaccount.Tokens{Types: s.surface.registry, Store: store, Now: c.Clock.Now, NewUID: s.ids.uid}
	s.authenticator = &authn.Authenticator{Tokens: c.Auth.Tokens, ServiceAccounts: s.tokens, Audiences: serviceaccount.Audiences()}
	if c.Auth.RBAC {
		s.authorizer.Policy = &authz.StorePolicy{Types: s.surface.registry, Store: store, Cache: s.surface.parsed}
	}
	s.allocator = s.newAllocator()
	s.served.Store(s.bare())
	if every := c.Compaction.Every; every > 0 {
		s.compaction = c.Clock.Every(every, s.compactOld)
	}
	return s
}

// Fork returns an independent server with the same state, history and
// configuration. Its clock shows the same time, its watch caches lag as those of
// s, and the faults of s are injected into it with their counts at zero. It takes
// constant time. It fails if a fault cannot be injected.
func (s *Server) Fork() (*Server, error) {
	config := s.config
	config.Clock = s.clock.Fork()
	out := newServer(config, s.store.Fork(config.Clock))
	out.store.LagAs(s.store)
	out.expireAs(s)
	out.keepUpAs(s)
	out.initial = s.initial
	served := out.own(s.served.Load())
	served.definitions = withoutWebhooks(served.definitions)
	out.served.Store(served)
	out.admission.Store(s.admission.Load())
	out.settle(nil)
	if err := out.faults.Inherit(s.faults); err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

// Close ends watches and waiting reads, which answer what they have. Requests
// fail from then on.
func (s *Server) Close() {
	s.cancel()
	s.store.Close()
	s.expiries.close()
	s.upkeep.close()
	if s.compaction != nil {
		s.compaction.Stop()
	}
}

// Clock is the server's time.
func (s *Server) Clock() *clock.Clock { return s.clock }

// Fresh is the revision that a fresh server is at.
func (s *Server) Fresh() mvcc.Revision { return s.initial.Revision() }

// Registry is the set of types that the server serves now.
func (s *Server) Registry() *resource.Registry { return s.served.Load().registry }

// Faults is what goes wrong on purpose.
func (s *Server) Faults() *fault.Set { return s.faults }

// Store is the server's state.
func (s *Server) Store() *storage.Store { return s.store }
