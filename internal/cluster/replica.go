package cluster

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// A Replica has the watch caches from which one API server of a cluster serves reads and
// watches. A client with a lag of its own has watch caches of its own. It is safe for
// concurrent use.
type Replica struct {
	cluster *Cluster
	name    string // "" for the first API server
	store   *storage.Store
	api     atomic.Pointer[serving.API]

	mu      sync.Mutex                // held while clients changes
	clients atomic.Pointer[clientSet] // nil if no client has watch caches of its own
}

// A clientSet has the clients with watch caches of their own.
type clientSet struct{ views []clientView }

// A clientView has the watch caches of the clients whose user agent matches a pattern.
type clientView struct {
	pattern string
	matches func(userAgent string) bool
	store   *storage.Store
}

// FirstReplica returns the Replica of the first API server.
func (c *Cluster) FirstReplica() *Replica { return c.firstReplica }

// NewReplica returns a Replica with watch caches of its own, which do not lag. The caller must
// Close it.
func (c *Cluster) NewReplica(name string) *Replica {
	r := &Replica{cluster: c, name: name, store: c.Store().WithOwnCaches()}
	r.api.Store(c.api())
	c.replaceReplicas(func(replicas []*Replica) []*Replica { return append(replicas, r) })
	if err := r.store.SetLag(nil, mvcc.Lag{}); err != nil {
		panic("cluster: no lag: " + err.Error()) // unreachable: it is a lag of all resources
	}
	return r
}

// replaceReplicas replaces the replicas by those that f returns for a copy of them.
func (c *Cluster) replaceReplicas(f func([]*Replica) []*Replica) {
	c.definitionsMu.Lock()
	defer c.definitionsMu.Unlock()
	replicas := f(slices.Clone(*c.replicas.Load()))
	c.replicas.Store(&replicas)
}

// Close ends the watch caches of a Replica of NewReplica.
func (r *Replica) Close() {
	r.cluster.replaceReplicas(func(replicas []*Replica) []*Replica {
		return slices.DeleteFunc(replicas, func(other *Replica) bool { return other == r })
	})
	r.store.CloseCaches()
	if set := r.clients.Load(); set != nil {
		for _, v := range set.views {
			v.store.CloseCaches()
		}
	}
}

// Surface returns the types that the API server serves now.
func (r *Replica) Surface() *serving.Surface { return r.api.Load().Surface() }

// Store returns the store with the watch caches that serve a client.
func (r *Replica) Store(userAgent string) *storage.Store {
	if set := r.clients.Load(); set != nil {
		for _, v := range set.views {
			if v.matches(userAgent) {
				return v.store
			}
		}
	}
	return r.store
}

// A Lagging says whose watch caches lag.
type Lagging struct {
	// Resource is a resource, or AllResources.
	Resource string
	// UserAgent matches the User-Agent header of clients; "" is all clients.
	UserAgent string
	// Matches reports whether UserAgent matches the header.
	Matches func(userAgent string) bool
}

// Lag makes the watch cache of a resource, or of AllResources, lag behind the
// store. The zero Lag ends it. Gets and lists at resourceVersion=0 or with
// resourceVersionMatch=NotOlderThan, and watches, read the watch cache. Consistent
// reads and writes do not.
//
// A lag of some clients is for their requests and watches, also those that are open. A
// lag of all clients replaces those of some.
//
// Errors: ErrNotFound, ErrInvalidLag.
func (r *Replica) Lag(of Lagging, lag mvcc.Lag) error {
	if lag.By < 0 || lag.Revisions < 0 {
		return fmt.Errorf("%w: it is negative", ErrInvalidLag)
	}
	t, err := r.cluster.cachedType(of.Resource)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	views := r.viewsLocked()
	stores := r.storesLocked(of, views)
	if err := checkLag(stores[0], t, lag); err != nil {
		return err
	}
	if of.UserAgent != "" && stores[0] == r.store {
		view := clientView{of.UserAgent, of.Matches, r.store.WithOwnCaches()}
		views, stores = append([]clientView{view}, views...), []*storage.Store{view.store}
	}
	lagged := slices.ContainsFunc(stores, lags)
	for _, s := range stores {
		if err := s.SetLag(t, lag); err != nil {
			panic("cluster: a lag is not valid: " + err.Error()) // unreachable: checkLag has checked it
		}
	}
	r.setViewsLocked(views)
	if lag != (mvcc.Lag{}) || lagged {
		r.note(of, t, lag)
	}
	return nil
}

// checkLag fails for a lag that watch caches of s cannot have.
func checkLag(s *storage.Store, t *resource.Type, lag mvcc.Lag) error {
	if at := s.CachedRevision(t); lag.Until > 0 && lag.Until < at {
		return fmt.Errorf("%w: the watch cache is at revision %d, and does not go back to %d", ErrInvalidLag, at, lag.Until)
	}
	if err := s.CheckLag(t, lag); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidLag, err)
	}
	return nil
}

// lags reports whether a watch cache of s lags.
func lags(s *storage.Store) bool { return len(s.Lags()) > 0 }

func (r *Replica) viewsLocked() []clientView {
	if set := r.clients.Load(); set != nil {
		return set.views
	}
	return nil
}

// setViewsLocked replaces the views. It drops those that do not lag, unless one of their
// clients would be served by another view, or by that of all clients, which lags.
func (r *Replica) setViewsLocked(views []clientView) {
	for n := len(views) - 1; n >= 0 && !lags(r.store) && !lags(views[n].store); n-- {
		views[n].store.CloseCaches()
		views = views[:n]
	}
	if len(views) == 0 {
		r.clients.Store(nil)
		return
	}
	r.clients.Store(&clientSet{views})
}

// note records a lag in the journal.
func (r *Replica) note(of Lagging, t *resource.Type, lag mvcc.Lag) {
	n := journal.Note{Kind: journal.Lag, Text: lagText(lag), Revision: r.cluster.Store().Revision(), UserAgent: of.UserAgent}
	if lag == (mvcc.Lag{}) {
		n.Kind = journal.Thaw
	}
	if r.name != "" {
		n.Text += " on " + r.name
	}
	if t != nil {
		n.Resource = strings.Trim(t.Prefix, "/")
	}
	r.cluster.Journal().RecordNote(n)
}

// storesLocked returns the stores with the watch caches of some clients: the first is
// that of the clients named, or that of all clients if they have none of their own.
func (r *Replica) storesLocked(of Lagging, views []clientView) []*storage.Store {
	if of.UserAgent != "" {
		for _, v := range views {
			if v.pattern == of.UserAgent {
				return []*storage.Store{v.store}
			}
		}
	}
	stores := []*storage.Store{r.store}
	for _, v := range views {
		stores = append(stores, v.store)
	}
	return stores
}

// CachedRevision returns the revision of the watch cache of a resource, for
// AllResources the highest of them. It fails with ErrNotFound.
func (r *Replica) CachedRevision(name string) (mvcc.Revision, error) {
	t, err := r.cluster.cachedType(name)
	if err != nil {
		return 0, err
	}
	return r.store.CachedRevision(t), nil
}

// A ClientLag is the lag of a resource, of some clients.
type ClientLag struct {
	UserAgent string // the pattern; "" for all clients
	storage.CacheLag
}

// Lags returns the lags: those of all clients, and then those of some.
func (r *Replica) Lags() []ClientLag {
	var out []ClientLag
	add := func(pattern string, s *storage.Store) {
		for _, l := range s.Lags() {
			out = append(out, ClientLag{pattern, l})
		}
	}
	add("", r.store)
	if set := r.clients.Load(); set != nil {
		for _, v := range set.views {
			add(v.pattern, v.store)
		}
	}
	return out
}
