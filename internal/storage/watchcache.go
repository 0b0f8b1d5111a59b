package storage

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/mvcc"
)

// kube-apiserver answers many reads from a watch cache per resource. Here a replica of
// the store takes its part. It is at the newest revision unless it has a lag.

// watchCaches are the watch caches of a Store.
type watchCaches struct {
	store database
	clock *clock.Clock

	// lagging is false only if no cache lags. It is set before the first cache
	// lags, so a reader that takes the newest view and then finds it false has seen
	// nothing that a cache would not show.
	lagging atomic.Bool

	// began is the revision at which the caches begin, if they have begun anew. No watch
	// starts before it.
	began atomic.Int64

	mu       sync.Mutex             // guards the fields below
	initial  replica                // the initial state of a new watch cache
	byPrefix map[string]*watchCache // by the prefix of the resource's keys
	closed   bool
	moved    func() // called when time or a new lag has moved a cache; nil without an observer
}

// OnCacheMove calls f each time a watch cache moves without a transaction: by time, or
// because its lag changes. f must not wait. It replaces an earlier one.
func (s *Store) OnCacheMove(f func()) {
	s.caches.mu.Lock()
	defer s.caches.mu.Unlock()
	s.caches.moved = f
}

func (cs *watchCaches) notifyLocked() {
	if cs.moved != nil {
		cs.moved()
	}
}

// A watchCache is the watch cache of a resource.
type watchCache struct {
	replica
	timer *clock.Timer // advances the cache; nil if only transactions advance it
}

func newWatchCaches(s database, c *clock.Clock) *watchCaches {
	return &watchCaches{store: s, clock: c, initial: s.Replica(), byPrefix: map[string]*watchCache{}}
}

// cachedView returns the state of the watch cache of t.
func (s *Store) cachedView(t *resource.Type) View {
	view := s.NewestView()
	if !s.caches.lagging.Load() {
		return view
	}
	return s.watchCache(t).View()
}

// CachedRevision returns the revision of the watch cache of t, or, if t is nil, the
// highest revision of all watch caches.
func (s *Store) CachedRevision(t *resource.Type) mvcc.Revision {
	if t != nil {
		return s.watchCache(t).Revision()
	}
	cs := s.caches
	cs.mu.Lock()
	defer cs.mu.Unlock()
	newest := cs.initial.Revision()
	for _, c := range cs.byPrefix {
		newest = max(newest, c.Revision())
	}
	return newest
}

// watchCache returns the replica that answers reads and watches of t. For a resource
// without a watch cache it is a replica that never lags.
func (s *Store) watchCache(t *resource.Type) replica {
	if t.NoWatchCache {
		return s.Replica()
	}
	return s.caches.get(t).replica
}

func (cs *watchCaches) get(t *resource.Type) *watchCache {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.byPrefix[t.Prefix]
	if c == nil {
		c = &watchCache{replica: cs.initial.Fork(cs.store)}
		cs.byPrefix[t.Prefix] = c
		cs.scheduleLocked(c)
	}
	if t.Since > 0 {
		c.Skip(mvcc.Revision(t.Since)) // the cache of a custom resource starts with its definition
	}
	return c
}

// SetLag sets the lag of the watch cache of t, or of all watch caches if t is nil. The
// zero Lag ends the lag. A cache never goes back to an older revision.
//
// It fails with ErrLagTooLong and ErrUncached.
func (s *Store) SetLag(t *resource.Type, lag mvcc.Lag) error {
	if err := s.CheckLag(t, lag); err != nil {
		return err
	}
	cs := s.caches
	if t != nil {
		cs.get(t)
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.lagging.Store(true)
	if t != nil {
		cs.setLocked(cs.byPrefix[t.Prefix], lag)
	} else {
		cs.initial.SetLag(lag)
		for _, c := range cs.byPrefix {
			cs.setLocked(c, lag)
		}
	}
	cs.lagging.Store(cs.anyLagsLocked())
	cs.notifyLocked()
	return nil
}

// CheckLag returns the error of SetLag.
func (s *Store) CheckLag(t *resource.Type, lag mvcc.Lag) error {
	switch {
	case t != nil && t.NoWatchCache:
		return fmt.Errorf("%s cannot lag: %w", t.Name, ErrUncached)
	case s.keep.Age > 0 && lag.By > s.keep.Age:
		return fmt.Errorf("%w: %v instead of at most %v", ErrLagTooLong, lag.By, s.keep.Age)
	}
	return nil
}

func (cs *watchCaches) setLocked(c *watchCache, lag mvcc.Lag) {
	c.SetLag(lag)
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	cs.scheduleLocked(c)
}

// RestartCaches makes the watch caches begin at the present revision, as those of a process
// that starts do. Their lags remain. Watches that are open continue.
func (s *Store) RestartCaches() {
	rev, cs := s.Revision(), s.caches
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.began.Store(int64(rev))
	cs.initial.Skip(rev)
	for _, c := range cs.byPrefix {
		c.Skip(rev)
	}
	cs.notifyLocked()
}

// Began returns the revision of the last RestartCaches, 0 if there was none.
func (s *Store) Began() mvcc.Revision { return mvcc.Revision(s.caches.began.Load()) }

// Watchable returns the oldest revision after which a watch of t can start.
func (s *Store) Watchable(t *resource.Type) mvcc.Revision {
	oldest := max(s.oldest(t), mvcc.Revision(t.Since))
	if t.NoWatchCache {
		return oldest
	}
	return max(oldest, s.Began())
}

// A CacheLag is the lag of the watch cache of a resource.
type CacheLag struct {
	Prefix   string // of the resource's keys; "" for all resources without an entry
	Lag      mvcc.Lag
	Revision mvcc.Revision // of the cache
}

// Lags returns the lags, sorted by prefix: an entry for all resources if they lag, and
// an entry for each resource whose lag is different.
func (s *Store) Lags() []CacheLag {
	cs := s.caches
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.initial.Advance()
	all := CacheLag{"", cs.initial.Lag(), cs.initial.Revision()}
	out := []CacheLag{}
	if all.Lag != (mvcc.Lag{}) {
		out = append(out, all)
	}
	for _, prefix := range slices.Sorted(maps.Keys(cs.byPrefix)) {
		one := CacheLag{prefix, cs.byPrefix[prefix].Lag(), cs.byPrefix[prefix].Revision()}
		if one.Lag != all.Lag {
			out = append(out, one)
		}
	}
	return out
}

func (cs *watchCaches) anyLagsLocked() bool {
	lags := cs.initial.Lag() != mvcc.Lag{}
	for _, c := range cs.byPrefix {
		lags = lags || c.Lag() != mvcc.Lag{}
	}
	return lags
}

// CopyLags sets the lags and the revisions of the watch caches to those of parent. s
// is a fork of parent, or has the same objects.
func (s *Store) CopyLags(parent *Store) {
	if !parent.caches.lagging.Load() {
		return
	}
	from, cs := parent.caches, s.caches
	from.mu.Lock()
	defer from.mu.Unlock()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.lagging.Store(true)
	cs.initial = from.initial.Fork(cs.store)
	for prefix, c := range from.byPrefix {
		cs.byPrefix[prefix] = &watchCache{replica: c.Fork(cs.store)}
		cs.scheduleLocked(cs.byPrefix[prefix])
	}
}

// scheduleAll schedules the next move of each cache that has none.
func (cs *watchCaches) scheduleAll() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.byPrefix {
		cs.scheduleLocked(c)
	}
}

// scheduleLocked sets a timer for the next move of a cache, unless it has one.
func (cs *watchCaches) scheduleLocked(c *watchCache) {
	if c.timer != nil || cs.closed {
		return
	}
	at, ok := c.Due()
	if !ok {
		return
	}
	var timer *clock.Timer
	timer = cs.clock.AfterFunc(at.Sub(cs.clock.Now()), func() {
		cs.mu.Lock()
		defer cs.mu.Unlock()
		if c.timer != timer {
			return // the lag has changed since
		}
		c.timer = nil
		c.Advance()
		cs.notifyLocked()
		cs.scheduleLocked(c)
	})
	c.timer = timer
}

func (cs *watchCaches) close() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.closed = true
	for _, c := range cs.byPrefix {
		if c.timer != nil {
			c.timer.Stop()
		}
	}
}
