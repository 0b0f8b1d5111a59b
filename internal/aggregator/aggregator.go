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
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
)

// Config configures an Aggregator. Context, Clock and Registry are required.
type Config struct {
	// Context ends with the server.
	Context context.Context

	Clock    *clock.Clock
	Registry *registry.Registry

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

	mu      sync.Mutex         // guards the fields below, and what workers know of their servers
	workers map[string]*worker // by the names of remote APIServices
	closed  bool

	running sync.WaitGroup
}

// services are the APIServices of a server. It is immutable.
type services struct {
	all       []*apiService
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

// Changed makes the Aggregator look at the objects of a type that were written, at all
// objects if t is nil.
func (a *Aggregator) Changed(t *resource.Type) {
	switch {
	case t == nil || t.Group == group && t.Name == resources:
		a.load()
	case t.Group == "" && t.Name == "services", t.Group == "discovery.k8s.io" && t.Name == "endpointslices":
		if known := a.known.Load(); known != nil {
			for _, w := range known.byVersion {
				w.availability.wake()
			}
		}
	}
}

// load brings the Aggregator in line with the APIServices in the store.
func (a *Aggregator) load() {
	t := a.typ()
	a.mu.Lock()
	defer a.mu.Unlock()
	if t == nil || a.closed {
		return
	}
	known := &services{byVersion: map[resource.GroupVersion]*worker{}}
	stale := []*apiService{} // local ones whose condition is that of a remote one
	for o := range a.config.Registry.Store().All(t.Prefix) {
		s := parse(t, o)
		known.all = append(known.all, s)
		switch {
		case s.isRemote():
			known.byVersion[s.GroupVersion] = a.workLocked(s)
		case s.reason != localCondition.Reason:
			stale = append(stale, s)
		}
	}
	for name, w := range a.workers {
		if known.byVersion[w.current().GroupVersion] != w {
			w.stop()
			delete(a.workers, name)
		}
	}
	if len(known.byVersion) == 0 {
		known = nil
	}
	a.known.Store(known)
	a.publishLocked()
	a.makeLocalLocked(stale)
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

// makeLocalLocked sets the condition of APIServices that are not remote any more.
func (a *Aggregator) makeLocalLocked(stale []*apiService) {
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
	return a.config.Registry.Surface().Builtin().Lookup(group, "v1", resources)
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
