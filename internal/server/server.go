package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/activity"
	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/aggregator"
	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/audit"
	"github.com/kubefake/kubefake/internal/authn/impersonation"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/cluster"
	"github.com/kubefake/kubefake/internal/control"
	"github.com/kubefake/kubefake/internal/controllers"
	"github.com/kubefake/kubefake/internal/crossorigin"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/ids"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/metrics"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/webhook"
)

// Config configures a Server. The zero value is a server of the newest release
// on which everybody is an administrator.
type Config struct {
	// Release is the Kubernetes release; nil is the newest one.
	Release *release.Release

	// Clock is the server's time; nil is that of the Group.
	Clock *clock.Clock

	// Group is the clusters with which that of the server shares a clock, and Name its name
	// among them. Nil is a group of its own on the Clock, or on the wall clock.
	Group *control.Group
	Name  string

	// Seed makes UIDs and generated names the same in every run; 0 makes them
	// random.
	Seed uint64

	// ServiceRanges, NodePorts, AdvertiseAddress, Port, KeepHistory, HistoryBytes, Compaction,
	// EventTTL and Pace are those of cluster.Config.
	ServiceRanges    []netip.Prefix
	NodePorts        allocator.PortRange
	AdvertiseAddress netip.Addr
	Port             int
	KeepHistory      time.Duration
	HistoryBytes     int64
	Compaction       cluster.Compaction
	EventTTL         time.Duration
	Pace             time.Duration

	// Auth configures authentication and authorization.
	Auth cluster.Auth

	// Plugins selects the admission plugins.
	Plugins plugin.Selection

	// Audit is the audit log; nil for none. Forks share it.
	Audit *audit.Log

	// MaxReads and MaxWrites limit the requests that are served at a time, without
	// long-running ones; 0 is no limit.
	MaxReads, MaxWrites int

	// State is the state to continue; nil is that of a fresh cluster.
	State *storage.State

	// Services maps the services of webhooks and of aggregated API servers, as
	// "namespace/name", to the addresses at which they are called. The map must not change.
	Services map[string]string

	// ProxyCertificate is the client certificate for aggregated API servers; nil for none.
	// Forks share it.
	ProxyCertificate *aggregator.Certificate

	// RequestTimeout is the longest time of a request that is not long-running; 0 is a minute.
	RequestTimeout time.Duration

	// MinWatchTimeout is the shortest time that a watch without timeoutSeconds lasts. The
	// longest is twice that. Nil means 30 minutes. A watch ends at once if it is 0.
	MinWatchTimeout *time.Duration

	// MetricLabels has the values that labels of metrics may have.
	MetricLabels metrics.AllowList

	// StrictTransportSecurity is the header Strict-Transport-Security of all answers; ""
	// is none.
	StrictTransportSecurity string

	// Flags are those that /flagz shows, with their values. The map must not change.
	Flags map[string]string

	// Reloads count the reloads of configuration files, for metrics.
	Reloads []*metrics.Reloads

	// NoControl turns the control endpoint off.
	NoControl bool

	// ShowSecrets makes stories and the requests of the control endpoint show secrets.
	ShowSecrets bool

	// Hosts are further names by which clients may call a server that listens on a
	// loopback address; see crossorigin.Check.
	Hosts []string

	// Origins are those of web pages that may use the server.
	Origins crossorigin.Origins

	// Faults are injected from the start.
	Faults []faults.Fault

	// FeatureGates are set in Release, see Release.WithGates.
	FeatureGates map[string]bool

	// WithoutPrivileged is set in Release, see Release.WithoutPrivileged.
	WithoutPrivileged bool
}

// configure returns a release with the gates of the configuration, and with what else depends on it.
func (c *Config) configure(r *release.Release) (*release.Release, error) {
	r, err := r.WithGates(c.FeatureGates)
	if err == nil && c.WithoutPrivileged {
		r = r.WithoutPrivileged()
	}
	return r, err
}

func (c *Config) minWatchTimeout() time.Duration {
	if c.MinWatchTimeout == nil {
		return defaultWatchTimeout
	}
	return *c.MinWatchTimeout
}

// A Server is the HTTP handler of an API server. It is safe for concurrent use.
// Close it when done.
type Server struct {
	config     Config
	cluster    *cluster.Cluster
	faults     *fault.Set
	hooks      *webhook.Client
	aggregator *aggregator.Aggregator // replicas share it
	control    *control.Control
	manager    *controllers.Manager
	requests   metrics.Requests
	deprecated metrics.Values    // of deprecatedAPIs
	activity   *activity.Tracker // replicas share it
	replica    *cluster.Replica
	additional bool // closes neither the cluster nor the controllers

	manifestReloads *manifestCounts

	reads, writes inflight
	started       time.Time
	random        *ids.Source // of values that no object has

	impersonations atomic.Pointer[impersonation.Modes]

	documents atomic.Pointer[documents] // of the Surface that was asked for last
	events    eventCache
	turns     turns

	// ctx ends with the server, and with it requests that wait.
	ctx    context.Context
	cancel context.CancelFunc

	// streams ends before ctx, and with it watches, commands in Pods and waiting faults.
	streams    context.Context
	endStreams context.CancelFunc
}

var _ http.Handler = (*Server)(nil)

// New returns a server that holds what a fresh cluster does. It fails for feature
// gates that Release.WithGates refuses, an unknown plugin, wrong service ranges, a wrong compaction schedule and a
// wrong fault.
func New(c Config) (*Server, error) {
	if c.MaxReads < 0 || c.MaxWrites < 0 {
		return nil, errors.New("the limit of requests in flight is negative")
	}
	if c.RequestTimeout < 0 {
		return nil, errors.New("--request-timeout can not be negative value")
	}
	if c.minWatchTimeout() < 0 {
		return nil, errors.New("--min-request-timeout can not be negative value")
	}
	if err := c.MetricLabels.Check(); err != nil {
		return nil, err
	}
	if c.Release == nil {
		r, err := release.Open("")
		if err != nil {
			return nil, err
		}
		c.Release = r
	}
	var err error
	if c.Release, err = c.configure(c.Release); err != nil {
		return nil, err
	}
	if c.Group == nil {
		c.Group = control.NewGroup(cmp.Or(c.Clock, clock.New()))
	}
	c.Clock = c.Group.Clock()
	s := newServer(context.Background(), c)
	g, err := cluster.New(cluster.Config{
		Context:          s.ctx,
		Release:          c.Release,
		Clock:            c.Clock,
		Seed:             c.Seed,
		Journal:          c.Group.NewJournal(),
		Webhooks:         s.hooks,
		Auth:             c.Auth,
		Plugins:          c.Plugins,
		State:            c.State,
		ServiceRanges:    c.ServiceRanges,
		NodePorts:        c.NodePorts,
		AdvertiseAddress: c.AdvertiseAddress,
		Port:             c.Port,
		KeepHistory:      c.KeepHistory,
		HistoryBytes:     c.HistoryBytes,
		Compaction:       c.Compaction,
		EventTTL:         c.EventTTL,
		Pace:             c.Pace,
		Changed:          s.changed,
	})
	if err != nil {
		s.cancel()
		return nil, err
	}
	s.setCluster(g)
	s.addAggregator()
	if c.State != nil {
		s.aggregator.Changed(nil, nil)
	}
	s.manifestReloads = &manifestCounts{}
	s.countManifests(s.started)
	s.addControl()
	if _, err := s.faults.Inject(c.Faults...); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// newServer returns a server without a cluster, which ends with parent at the latest.
func newServer(parent context.Context, c Config) *Server {
	s := &Server{config: c, started: c.Clock.Now(), activity: &activity.Tracker{}, turns: newTurns(), reads: newInflight(c.MaxReads), writes: newInflight(c.MaxWrites)}
	s.setImpersonations(c.Release)
	s.ctx, s.cancel = context.WithCancel(parent)
	s.streams, s.endStreams = context.WithCancel(s.ctx)
	s.faults = s.newFaults()
	s.hooks = &webhook.Client{Services: c.Services, Clock: c.Clock, Wrap: s.faults.Transport}
	return s
}

// setCluster sets the cluster that the server serves.
func (s *Server) setCluster(c *cluster.Cluster) {
	s.cluster, s.random = c, c.IDs().Fork("server")
}

// setImpersonations sets the modes of impersonation that a release has.
func (s *Server) setImpersonations(r *release.Release) {
	s.impersonations.Store(&impersonation.Modes{LegacyOnly: !r.Enabled("ConstrainedImpersonation")})
}

// newFaults returns the faults of a server, which end with its context.
func (s *Server) newFaults() *fault.Set {
	return fault.NewSet(fault.Options{
		Clock: s.config.Clock, Seed: s.config.Seed, Context: s.streams, OnHit: s.noteFault, OnInject: s.noteInjection, OnEnd: s.noteRemoval, OnDo: s.trackDo,
		Cluster:     s.config.Name,
		Act:         func(ctx context.Context, a faults.Action) error { return s.control.Act(ctx, a) },
		CheckAction: control.CheckAction, FindResource: s.findResource,
	})
}

// findResource reports whether a resource is served, and returns the one that is meant if the
// name is a singular, a kind or a short name. Aggregated API servers may serve any resource.
func (s *Server) findResource(name string) (served bool, meant string) {
	surface := s.replica.Surface()
	if surface.Find(name) != nil {
		return true, ""
	}
	meant = surface.Meant(name)
	return meant == "" && s.aggregator.HasRemote(), meant
}

// addAggregator adds what forwards requests to other API servers.
func (s *Server) addAggregator() {
	s.aggregator = aggregator.New(aggregator.Config{
		Context: s.ctx, Clock: s.config.Clock, Cluster: s.cluster,
		Services: s.config.Services, Certificate: s.config.ProxyCertificate, Busy: s.trackDo,
	})
}

// changed is cluster.Config.Changed.
func (s *Server) changed(t *resource.Type, names []string) {
	if s.aggregator != nil { // it is nil while the cluster is made
		s.aggregator.Changed(t, names)
	}
}

// addControl adds what needs the cluster.
func (s *Server) addControl() {
	s.replica = s.cluster.FirstReplica()
	s.manager = controllers.NewManager(s.cluster, s.faults, s.config.Release)
	s.config.State = nil // it is no longer needed
	s.control = s.newControl()
	s.config.Group.Add(s.control)
}

// newControl returns the Control of a server that has its cluster, replica and manager.
func (s *Server) newControl() *control.Control {
	return control.New(control.Config{
		Name: s.config.Name, Group: s.config.Group, Cluster: s.cluster, Replica: s.replica, Faults: s.faults, Manager: s.manager,
		Activity: s.activity, ShowSecrets: s.config.ShowSecrets,
	})
}

// ExpectClient notes that a client may connect: something has its credentials.
func (s *Server) ExpectClient() { s.activity.Expect() }

// trackDo counts a request as activity: a watch while a fault's Do runs for it, and a check of
// an aggregated API server.
func (s *Server) trackDo(hr *http.Request) (done func()) {
	call := &activity.Call{}
	s.activity.Begin(call, hr, time.Now())
	return func() { s.activity.End(call, time.Now(), activity.Answer{}) }
}

// noteFault records a fault that hit a request.
func (s *Server) noteFault(h fault.Hit) {
	resource := status.GroupResource{Group: h.Route.Group, Resource: h.Route.Resource}
	s.cluster.Journal().RecordNote(journal.Note{Kind: journal.Fault, Text: h.String(), Resource: resource.String(), UserAgent: h.UserAgent})
}

// noteInjection records that a fault can hit from now on, and noteRemoval that it can no more.
func (s *Server) noteInjection(f faults.Fault, until time.Time) {
	s.cluster.Journal().RecordNote(journal.Note{Kind: journal.Injection, Text: f.String(), Resource: f.Resource, Fault: f.ID, Until: until})
}

func (s *Server) noteRemoval(f faults.Fault, why string) {
	s.cluster.Journal().RecordNote(journal.Note{Kind: journal.Removal, Text: why + ": " + f.String(), Resource: f.Resource, Fault: f.ID})
}

// Fork returns a server of the same state, history and configuration. The two
// share nothing that changes. Its watch caches lag alike, and its faults start anew. No
// controllers run on it. It takes constant time. name is cluster.Forked.Name, and group
// a fork of the group of the server.
func (s *Server) Fork(name string, group *control.Group) (*Server, error) {
	config := s.config
	config.Release = s.cluster.Surface().Release()
	config.Group, config.Clock = group, group.Clock()
	out := newServer(context.Background(), config)
	out.setCluster(s.cluster.Fork(cluster.Forked{
		Name: name, Context: out.ctx, Clock: config.Clock, Journal: group.NewJournal(), Webhooks: out.hooks, Changed: out.changed,
	}))
	out.addAggregator()
	if s.aggregator.HasRemote() {
		out.aggregator.Changed(nil, nil)
	}
	out.manifestReloads = &manifestCounts{}
	out.countManifests(out.started)
	out.addControl()
	out.manager.Inherit(s.manager)
	if err := out.faults.Inherit(s.faults); err != nil {
		out.Close()
		return nil, err
	}
	out.cluster.Resume()
	s.cluster.Journal().RecordNote(journal.Note{Kind: journal.Fork, Text: "a fork has this state", Revision: out.cluster.Store().Revision()})
	return out, nil
}

// NewReplica returns another API server of the same cluster: it has the same objects,
// clock and controllers, and watch caches, lags and faults of its own. It ends with s at
// the latest. The caller must Close it before s.
func (s *Server) NewReplica(name string) *Server {
	config := s.config
	config.Release = s.cluster.Surface().Release()
	out := newServer(s.ctx, config)
	out.setCluster(s.cluster)
	out.manager, out.activity, out.hooks = s.manager, s.activity, s.hooks
	out.aggregator = s.aggregator
	out.manifestReloads = s.manifestReloads
	out.replica, out.additional = s.cluster.NewReplica(name), true
	out.control = out.newControl()
	return out
}

// Release returns the release whose API the server serves.
func (s *Server) Release() *release.Release { return s.replica.Surface().Release() }

// Upgrade restarts the API server with another release, newer or older, over the same
// objects; see [cluster.Replica.Upgrade]. The controllers restart with the first API server
// of a cluster. It fails for feature gates that the release does not have or has locked.
func (s *Server) Upgrade(to *release.Release) error {
	to, err := s.config.configure(to)
	if err != nil {
		return err
	}
	if err := s.replica.Upgrade(to); err != nil {
		if s.Release() != to {
			return err
		}
		// The server has the release. A user's objects can cause the error, as they can for
		// a server that continues a state.
		s.cluster.Journal().RecordNote(journal.Note{Kind: journal.State, Text: "the server's own objects are not brought in line: " + err.Error()})
	}
	s.setImpersonations(to)
	s.countManifests(s.config.Clock.Now())
	if s.additional {
		return nil
	}
	return s.manager.Upgrade(to)
}

// Replica returns the watch caches of the server.
func (s *Server) Replica() *cluster.Replica { return s.replica }

// EndStreams ends watches, commands in Pods and the faults that wait. Other requests continue.
func (s *Server) EndStreams() { s.endStreams() }

// Close ends watches and waiting reads, which answer what they have. Requests
// fail from then on.
func (s *Server) Close() {
	s.cancel()
	if s.additional {
		s.replica.Close()
		return
	}
	if s.manager != nil {
		s.manager.Close()
	}
	s.aggregator.Close()
	s.cluster.Close()
	s.hooks.Close()
}

// Registry returns the server's objects.
func (s *Server) Cluster() *cluster.Cluster { return s.cluster }

// Control returns what the control endpoint does, for callers in Go.
func (s *Server) Control() *control.Control { return s.control }

// Controllers returns what runs the controllers of the server.
func (s *Server) Controllers() *controllers.Manager { return s.manager }

// Webhooks returns what calls webhooks.
func (s *Server) Webhooks() *webhook.Client { return s.hooks }

// Faults returns the injected faults.
func (s *Server) Faults() *fault.Set { return s.faults }
