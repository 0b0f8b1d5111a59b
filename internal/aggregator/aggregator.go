package aggregator

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/cluster"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/webhook"
)

// Config configures an Aggregator. Context, Clock and Registry are required.
type Config struct {
	// Context ends with the server.
	Context context.Context

	Clock   *clock.Clock
	Cluster *cluster.Cluster

	// Services maps Services, as "namespace/name", to the addresses at which they are called,
	// such as "127.0.0.1:9443". The map must not change. Those that it does not have are called
	// as kube-proxy would: at an endpoint, or at their external name.
	Services map[string]string

	// Certificate is the client certificate for aggregated API servers. Nil is none.
	Certificate *Certificate

	// Busy is called before a check of an aggregated API server, and end after it.
	Busy func(r *http.Request) (end func())
}

// An Aggregator knows the remote APIServices of a server. It is safe for concurrent use.
type Aggregator struct {
	config Config
	known  atomic.Pointer[services] // nil if no APIService is remote

	documents atomic.Pointer[Documents] // nil if no APIService is remote

	mu      sync.Mutex             // guards the fields below, and what workers know of their servers
	all     map[string]*apiService // by name; nil if no APIService is remote
	workers map[string]*worker     // by the names of remote APIServices
	closed  bool

	transports webhook.Pool[transportKey, *http.Transport]

	running sync.WaitGroup
}

// services are the APIServices of a server. It is immutable.
type services struct {
	all       []*apiService                     // in the order of their names
	byVersion map[resource.GroupVersion]*worker // remote ones
}

// byPriority returns the workers in the order in which OpenAPI documents are merged.
func (s *services) byPriority() []*worker {
	groups := map[string]int64{}
	workers := slices.Collect(maps.Values(s.byVersion))
	for _, w := range workers {
		c := w.current()
		groups[c.Group] = max(groups[c.Group], c.groupPriority)
	}
	slices.SortFunc(workers, func(a, b *worker) int {
		c, d := a.current(), b.current()
		return cmp.Or(cmp.Compare(groups[d.Group], groups[c.Group]), strings.Compare(c.name, d.name))
	})
	return workers
}

// New returns an Aggregator that knows no APIService yet. The caller must Close it.
func New(c Config) *Aggregator {
	if c.Busy == nil {
		c.Busy = func(*http.Request) func() { return func() {} }
	}
	return &Aggregator{config: c, workers: map[string]*worker{}}
}

// Changed makes the Aggregator look at the objects of a type that were written, at all objects if
// t is nil. names are those of the APIServices that were written or deleted.
func (a *Aggregator) Changed(t *resource.Type, names []string) {
	switch {
	case t == nil:
		a.load()
	case t.Group == group && t.Name == resources:
		a.loadChanged(names)
	case t.Group == "" && t.Name == "services", t.Group == "discovery.k8s.io" && t.Name == "endpointslices":
		if known := a.known.Load(); known != nil {
			for _, w := range known.byVersion {
				w.availability.wake()
			}
		}
	}
}

// load updates the Aggregator from the APIServices in the store.
func (a *Aggregator) load() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.typ(); t != nil && !a.closed {
		a.loadLocked(t)
	}
}

// loadChanged is load after a change of the APIServices with these names. As long as none is
// remote, the others are not looked at.
func (a *Aggregator) loadChanged(names []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.typ()
	if t == nil || a.closed {
		return
	}
	var changed []*apiService
	for _, name := range names {
		delete(a.all, name)
		if o := a.config.Cluster.Store().Newest(t.Key("", name)); o != nil {
			changed = append(changed, parse(t, o))
		}
	}
	switch {
	case a.all != nil:
		for _, s := range changed {
			a.all[s.name] = s
		}
		a.settleLocked()
	case slices.ContainsFunc(changed, (*apiService).isRemote):
		a.loadLocked(t)
		return
	}
	a.makeLocalLocked(changed)
}

func (a *Aggregator) loadLocked(t *resource.Type) {
	a.all = map[string]*apiService{}
	for o := range a.config.Cluster.Store().All(t.Prefix) {
		a.all[o.Name] = parse(t, o)
	}
	a.makeLocalLocked(slices.Collect(maps.Values(a.all)))
	a.settleLocked()
}

// settleLocked makes what readers know, and the workers, what all says.
func (a *Aggregator) settleLocked() {
	known := &services{byVersion: map[resource.GroupVersion]*worker{}}
	for _, name := range slices.Sorted(maps.Keys(a.all)) {
		s := a.all[name]
		known.all = append(known.all, s)
		if s.isRemote() {
			known.byVersion[s.GroupVersion] = a.workLocked(s)
		}
	}
	for name, w := range a.workers {
		if known.byVersion[w.current().GroupVersion] != w {
			w.stop()
			delete(a.workers, name)
		}
	}
	if len(known.byVersion) == 0 {
		known, a.all = nil, nil
	}
	a.known.Store(known)
	a.publishLocked()
}

// workLocked returns the worker of a remote APIService, and starts it if it is new.
func (a *Aggregator) workLocked(s *apiService) *worker {
	if w := a.workers[s.name]; w != nil && w.current().GroupVersion == s.GroupVersion {
		w.update(s)
		return w
	}
	w := a.newWorker(s)
	a.workers[s.name] = w
	w.start()
	return w
}

// makeLocalLocked sets the condition of those APIServices that are not remote any more.
func (a *Aggregator) makeLocalLocked(all []*apiService) {
	stale := slices.DeleteFunc(slices.Clone(all), func(s *apiService) bool {
		return s.isRemote() || s.reason == localCondition.Reason
	})
	if len(stale) == 0 {
		return
	}
	end := a.busy(stale[0])
	a.running.Add(1)
	go func() { // the caller may hold what a write needs
		defer a.running.Done()
		defer end()
		for _, s := range stale {
			_ = a.setCondition(a.config.Context, s, localCondition) // fails if another write came first, which loads again
		}
	}()
}

// HasRemote reports whether an APIService is remote.
func (a *Aggregator) HasRemote() bool { return a.known.Load() != nil }

// busy notes that a call for an APIService is due. The caller calls end after it.
func (a *Aggregator) busy(s *apiService) (end func()) {
	r, err := http.NewRequest(http.MethodGet, s.path(), nil)
	if err != nil {
		r = &http.Request{Method: http.MethodGet, URL: &url.URL{}} // the version is no part of a URL
	}
	return a.config.Busy(r)
}

// typ returns the type of APIServices, nil in a release without.
func (a *Aggregator) typ() *resource.Type {
	return a.config.Cluster.Surface().Builtin().Lookup(group, "v1", resources)
}

// Close ends all checks and waits for them.
func (a *Aggregator) Close() {
	a.mu.Lock()
	a.closed = true
	for _, w := range a.workers {
		w.stop()
	}
	a.mu.Unlock()
	a.running.Wait()
	a.transports.Close()
}

// A Remote is the server of a remote APIService.
type Remote struct {
	aggregator *Aggregator
	service    *apiService
}

// LookupOpenAPI returns the server to which requests for the OpenAPI document of a path are
// forwarded, nil if none has it.
func (a *Aggregator) LookupOpenAPI(path string) *Remote {
	known := a.known.Load()
	if known == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range known.byPriority() {
		if w.openAPI != nil && w.openAPI.Has(path) {
			return &Remote{a, w.current()}
		}
	}
	return nil
}

// Lookup returns the server to which requests for a path are forwarded, nil if it is this one.
func (a *Aggregator) Lookup(path string) *Remote {
	known := a.known.Load()
	if known == nil {
		return nil
	}
	var gv resource.GroupVersion
	if rest, ok := strings.CutPrefix(path, "/apis/"); ok {
		var version string
		gv.Group, version, _ = strings.Cut(rest, "/")
		gv.Version, _, _ = strings.Cut(version, "/")
	} else if path == "/api" || strings.HasPrefix(path, "/api/") {
		gv.Version = "v1"
	}
	if w := known.byVersion[gv]; w != nil {
		return &Remote{a, w.current()}
	}
	return nil
}
