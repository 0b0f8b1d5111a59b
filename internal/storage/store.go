package storage

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/mvcc"
)

// freshnessWait is how long a read from the watch cache waits for a newer version.
const freshnessWait = 3 * time.Second

// A Store holds the objects of a server and their history. Reads of watch caches read
// those of the Store. It is safe for concurrent use.
type Store struct {
	*objects
	caches *watchCaches
}

// objects are what the Stores of several API servers of a cluster share.
type objects struct {
	database
	clock *clock.Clock
	keep  Limits

	// compactedEtcd is the revision up to which CompactEtcd has compacted.
	compactedEtcd atomic.Int64

	limiter limiter

	allCaches atomic.Pointer[[]*watchCaches] // of all Stores
	cachesMu  sync.Mutex                     // held while allCaches is replaced
}

// NewStore returns an empty store.
func NewStore(c *clock.Clock, keep Limits) *Store {
	out := &Store{objects: &objects{clock: c, keep: keep}}
	out.database = mvccStore{mvcc.New[*Object](out.options())}
	out.addCaches()
	return out
}

// Fork returns an independent store with the same state and history, and limits of its
// own. Its watch caches do not lag.
func (s *Store) Fork(c *clock.Clock, keep Limits) *Store {
	out := &Store{objects: &objects{clock: c, keep: keep}}
	out.database = s.database.Fork(out.options())
	out.compactedEtcd.Store(s.compactedEtcd.Load())
	out.addCaches()
	return out
}

// WithOwnCaches returns a Store of the same objects with watch caches of its own, which
// begin with the lags and revisions of those of s. The caller must call CloseCaches.
func (s *Store) WithOwnCaches() *Store {
	out := &Store{objects: s.objects}
	out.addCaches()
	out.CopyLags(s)
	return out
}

// CloseCaches removes the watch caches of a Store of WithOwnCaches.
func (s *Store) CloseCaches() {
	s.caches.close()
	s.cachesMu.Lock()
	defer s.cachesMu.Unlock()
	left := slices.DeleteFunc(slices.Clone(*s.allCaches.Load()), func(cs *watchCaches) bool { return cs == s.caches })
	s.allCaches.Store(&left)
}

func (s *Store) addCaches() {
	s.caches = newWatchCaches(s.database, s.clock)
	s.cachesMu.Lock()
	defer s.cachesMu.Unlock()
	all := []*watchCaches{s.caches}
	if others := s.allCaches.Load(); others != nil {
		all = append(slices.Clone(*others), s.caches)
	}
	s.allCaches.Store(&all)
}

func (s *Store) options() mvcc.Options {
	return mvcc.Options{Now: s.clock.Now, KeepFor: s.keep.Age, KeepBytes: s.keep.Bytes, Grown: s.grown}
}

// Close stops the timers of the objects.
func (s *Store) Close() {
	for _, cs := range *s.allCaches.Load() {
		cs.close()
	}
	s.limiter.close()
}

// Update is mvcc.Store.Update. It also schedules the moves of lagging watch caches.
func (s *Store) Update(fn func(tx Txn) error) (mvcc.Revision, error) {
	rev, err := s.database.Update(fn)
	for _, cs := range *s.allCaches.Load() {
		if cs.lagging.Load() {
			cs.scheduleAll()
		}
	}
	return rev, err
}

// CompactEtcd compacts the history below rev as a compaction of etcd does: for
// resources without a watch cache. Watch caches still have the older versions.
func (s *Store) CompactEtcd(rev mvcc.Revision) {
	for {
		old := s.compactedEtcd.Load()
		if int64(rev) <= old || s.compactedEtcd.CompareAndSwap(old, int64(rev)) {
			return
		}
	}
}

// oldest returns the oldest version at which t can be read.
func (s *Store) oldest(t *resource.Type) mvcc.Revision {
	c := s.Compacted()
	if t.NoWatchCache {
		c = max(c, mvcc.Revision(s.compactedEtcd.Load()))
	}
	return c
}

// Get returns an object, nil if it does not exist, and the revision of the state that
// was read. version is the request's resourceVersion: the state is not older.
func (s *Store) Get(ctx context.Context, t *resource.Type, namespace, name, version string) (*Object, mvcc.Revision, error) {
	if version == "" {
		item, ok, rev := s.Latest(t.Key(namespace, name))
		if !ok {
			return nil, rev, nil
		}
		return item.Value, rev, nil
	}
	view, err := s.atLeast(ctx, t, version)
	if err != nil {
		return nil, 0, err
	}
	return find(view, t.Key(namespace, name)), view.Revision(), nil
}

// atLeast returns a state that is not older than version, or the newest state if
// version is "".
func (s *Store) atLeast(ctx context.Context, t *resource.Type, version string) (View, error) {
	if version == "" {
		return s.NewestView(), nil
	}
	rev, err := ParseVersion(version)
	if err != nil {
		return nil, &VersionError{Value: version, Err: err}
	}
	view := s.cachedView(t)
	if rev <= uint64(view.Revision()) {
		return view, nil
	}
	return s.await(ctx, t, s.watchCache(t), rev)
}

// find returns the object at a key in a view, nil if there is none.
func find(view View, key string) *Object {
	item, ok := view.Get(key)
	if !ok {
		return nil
	}
	return item.Value
}

// NewestView returns the current state.
func (s *Store) NewestView() View {
	view, err := s.View(0)
	if err != nil {
		panic("storage: no newest view: " + err.Error()) // unreachable: revision 0 always exists
	}
	return view
}

// Newest returns the current object at a key, nil if there is none.
func (s *Store) Newest(key string) *Object {
	item, ok, _ := s.Latest(key)
	if !ok {
		return nil
	}
	return item.Value
}

// All returns the current objects whose keys begin with the prefix, sorted by key.
func (s *Store) All(prefix string) iter.Seq[*Object] {
	few, ok := s.LatestFew(prefix)
	if ok && len(few) == 0 {
		return none
	}
	if ok {
		return func(yield func(*Object) bool) {
			for _, item := range few {
				if !yield(item.Value) {
					return
				}
			}
		}
	}
	view := s.NewestView()
	return func(yield func(*Object) bool) {
		for item := range view.Range(prefix, mvcc.PrefixEnd(prefix)) {
			if !yield(item.Value) {
				return
			}
		}
	}
}

// Objects returns what All does, as a slice.
func (s *Store) Objects(prefix string) []*Object {
	few, ok := s.LatestFew(prefix)
	if !ok {
		return slices.Collect(s.All(prefix))
	}
	if len(few) == 0 {
		return nil
	}
	all := make([]*Object, len(few))
	for i, item := range few {
		all[i] = item.Value
	}
	return all
}

// none has no objects.
func none(func(*Object) bool) {}

// await returns the view of a replica once it is at rev or later. It waits up to
// freshnessWait, and not at all for a resource without a watch cache.
func (s *Store) await(ctx context.Context, t *resource.Type, r replica, rev uint64) (View, error) {
	timeout := s.clock.After(freshnessWait)
	defer timeout.Stop()
	for {
		moved, view := r.Moved(), r.View()
		if rev <= uint64(view.Revision()) {
			return view, nil
		}
		tooLarge := &TooLargeError{Requested: rev, Current: view.Revision(), Waited: !t.NoWatchCache}
		if t.NoWatchCache {
			return nil, tooLarge
		}
		select {
		case <-moved:
		case <-timeout.C:
			return nil, tooLarge
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ParseVersion parses a resourceVersion as kube-apiserver does: an unsigned number,
// and 0 for "".
func ParseVersion(version string) (uint64, error) {
	if version == "" {
		return 0, nil
	}
	return strconv.ParseUint(version, 10, 64)
}

// FormatVersion returns the resourceVersion of a revision.
func FormatVersion(rev mvcc.Revision) string { return strconv.FormatInt(int64(rev), 10) }
