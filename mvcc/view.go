package mvcc

import (
	"iter"
	"math"

	"github.com/google/btree"
)

// A View is the store at one revision. Later transactions and compaction do not change
// it. It may be used concurrently. It keeps its versions in memory.
type View[V any] struct {
	rev  Revision
	live *btree.BTreeG[liveEntry[V]]
	past *btree.BTreeG[pastEntry[V]] // nil in a view of the newest revision, which live has completely
}

// View returns the store at a revision, or at the newest one if at is 0.
//
// The error is a [RevisionError]: [ErrCompacted] below the compacted revision,
// [ErrFutureRevision] above the newest one.
func (s *Store[V]) View(at Revision) (*View[V], error) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.expireLocked(now); {
	case at == 0:
		at = s.rev
	case at > s.rev:
		return nil, s.errorLocked(ErrFutureRevision, at)
	case at < max(s.compacted, emptyRevision):
		return nil, s.errorLocked(ErrCompacted, at)
	}
	return s.viewLocked(at), nil
}

func (s *Store[V]) viewLocked(at Revision) *View[V] {
	if at == s.rev {
		return &View[V]{rev: at, live: s.live.snapshot()}
	}
	return &View[V]{rev: at, live: s.live.snapshot(), past: s.past.snapshot()}
}

// Latest returns the current version of a key, whether the key exists, and the revision
// of the store.
//
// View(0).Get returns the same. But while there is a view of the newest revision, the
// next write copies the nodes of the tree that it changes.
func (s *Store[V]) Latest(key string) (item *Item[V], ok bool, at Revision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	item = s.latestLocked(key)
	return item, item != nil, s.rev
}

// LatestFew returns the current items whose keys begin with a prefix, sorted by key. It
// returns ok = false, and no items, if there are more than 16. Like Latest, it leaves
// the tree to the next write. The caller must not change the items.
func (s *Store[V]) LatestFew(prefix string) (items []*Item[V], ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rangeLocked(prefix)
	return r.items, !r.more
}

// prune returns an equal view that keeps no past versions of other revisions.
func (v *View[V]) prune() *View[V] {
	out := &View[V]{rev: v.rev, live: v.live}
	if v.past != nil {
		out.past = btree.NewG(degree, pastLess[V])
		past := pastCursor[V]{tree: v.past, rev: v.rev}
		for item := past.next(); item != nil; item = past.next() {
			out.past.ReplaceOrInsert(pastEntry[V]{key: item.Key, end: v.rev + 1, item: item})
		}
	}
	return out
}

// Revision returns the revision of the view.
func (v *View[V]) Revision() Revision { return v.rev }

// Get returns the version of a key in the view, and whether the key exists in it.
func (v *View[V]) Get(key string) (*Item[V], bool) {
	if e, ok := v.live.Get(liveEntry[V]{key: key}); ok && e.item.Modified <= v.rev {
		return e.item, true
	}
	if v.past == nil {
		return nil, false
	}
	// The versions of a key do not overlap. The first that ended after the view's
	// revision is in the view, unless it also started after it.
	var found *Item[V]
	v.past.AscendGreaterOrEqual(pastEntry[V]{key: key, end: v.rev + 1}, func(e pastEntry[V]) bool {
		if e.key == key && e.item.Modified <= v.rev {
			found = e.item
		}
		return false
	})
	return found, found != nil
}

// Range returns the items in [from, to), sorted by key, without copying them. If to is
// "", there is no upper bound.
func (v *View[V]) Range(from, to string) iter.Seq[*Item[V]] {
	if v.past == nil {
		return func(yield func(*Item[V]) bool) {
			ascend(v.live, from, to, yield)
		}
	}
	return func(yield func(*Item[V]) bool) {
		// A key without later changes is in live, any other key in past.
		past := pastCursor[V]{tree: v.past, rev: v.rev, to: to, seek: pastEntry[V]{key: from}}
		old := past.next()
		stopped := false
		ascend(v.live, from, to, func(item *Item[V]) bool {
			if item.Modified > v.rev {
				return true
			}
			for ; old != nil && old.Key < item.Key; old = past.next() {
				if !yield(old) {
					stopped = true
					return false
				}
			}
			stopped = !yield(item)
			return !stopped
		})
		for ; !stopped && old != nil; old = past.next() {
			stopped = !yield(old)
		}
	}
}

// Count returns the number of items in [from, to). It walks the range.
func (v *View[V]) Count(from, to string) int {
	n := 0
	for range v.Range(from, to) {
		n++
	}
	return n
}

// ascend calls yield for the items of live in [from, to).
func ascend[V any](live *btree.BTreeG[liveEntry[V]], from, to string, yield func(*Item[V]) bool) {
	live.AscendGreaterOrEqual(liveEntry[V]{key: from}, func(e liveEntry[V]) bool {
		return (to == "" || e.key < to) && yield(e.item)
	})
}

// A pastCursor returns, key by key, the versions that were valid at a revision. It
// reads several versions at a time, since the tree can only be walked by callback.
type pastCursor[V any] struct {
	tree  *btree.BTreeG[pastEntry[V]]
	rev   Revision
	to    string
	seek  pastEntry[V] // where to continue; with end == never, after all versions of the key
	done  bool
	ahead []*Item[V] // found but not returned yet: a part of found
	found [64]*Item[V]
}

// never is higher than any revision.
const never Revision = math.MaxInt64

// next returns the next version, nil after the last.
func (c *pastCursor[V]) next() *Item[V] {
	if len(c.ahead) == 0 {
		c.readAhead()
	}
	if len(c.ahead) == 0 {
		return nil
	}
	item := c.ahead[0]
	c.ahead = c.ahead[1:]
	return item
}

// readAhead finds the next versions. It finds none at the end.
//
// It does not walk through all versions of a key: after some steps without a result it
// searches the tree for the place to continue.
func (c *pastCursor[V]) readAhead() {
	const maxSteps = 8
	c.ahead = c.found[:0]
	for !c.done && len(c.ahead) < len(c.found) {
		c.done = true // unless the walk stops early
		idle := 0
		c.tree.AscendGreaterOrEqual(c.seek, func(e pastEntry[V]) bool {
			if c.to != "" && e.key >= c.to {
				return false
			}
			idle++
			if e.end <= c.rev {
				c.seek = pastEntry[V]{key: e.key, end: c.rev + 1}
			} else {
				// Later versions of the key started after this one ended, so
				// after the view's revision.
				c.seek = pastEntry[V]{key: e.key, end: never}
				if e.item.Modified <= c.rev {
					c.ahead = append(c.ahead, e.item)
					idle = 0
				}
			}
			c.done = idle < maxSteps && len(c.ahead) < len(c.found)
			return c.done
		})
	}
}
