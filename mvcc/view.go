package mvcc

import (
	"iter"
	"math"

	"github.com/google/btree"
)

// A View is the store as it was at one revision. It does not change, neither
// with later transactions nor with compaction, and may be used from any number
// of goroutines. It costs nothing to keep but the memory of the versions in it.
type View[V any] struct {
	rev  Revision
	live *btree.BTreeG[liveEntry[V]]
	past *btree.BTreeG[pastEntry[V]] // nil if the view was of the newest revision: live has it all
}

// View returns the store as it was at a revision, as it is now if at is 0.
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
	case at < max(s.compacted, empty):
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

// Revision returns the revision that the view is of.
func (v *View[V]) Revision() Revision { return v.rev }

// Get returns what the key was, and whether it existed.
func (v *View[V]) Get(key string) (*Item[V], bool) {
	if e, ok := v.live.Get(liveEntry[V]{key: key}); ok && e.item.Modified <= v.rev {
		return e.item, true
	}
	if v.past == nil {
		return nil, false
	}
	// The versions of a key follow each other in time. The first that ended
	// after the view is what the key was, unless it began after the view too.
	var found *Item[V]
	v.past.AscendGreaterOrEqual(pastEntry[V]{key: key, end: v.rev + 1}, func(e pastEntry[V]) bool {
		if e.key == key && e.item.Modified <= v.rev {
			found = e.item
		}
		return false
	})
	return found, found != nil
}

// Range returns the items in [from, to) in the order of their keys, without
// copying them. If to is "", there is no upper bound.
func (v *View[V]) Range(from, to string) iter.Seq[*Item[V]] {
	if v.past == nil {
		return func(yield func(*Item[V]) bool) {
			ascend(v.live, from, to, yield)
		}
	}
	return func(yield func(*Item[V]) bool) {
		// A key that has not changed since is in live, any other key in past.
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

// Count returns how many items there are in [from, to). It walks the range.
func (v *View[V]) Count(from, to string) int {
	n := 0
	for range v.Range(from, to) {
		n++
	}
	return n
}

// ascend walks the items of live in [from, to).
func ascend[V any](live *btree.BTreeG[liveEntry[V]], from, to string, yield func(*Item[V]) bool) {
	each := func(e liveEntry[V]) bool { return yield(e.item) }
	if to == "" {
		live.AscendGreaterOrEqual(liveEntry[V]{key: from}, each)
	} else {
		live.AscendRange(liveEntry[V]{key: from}, liveEntry[V]{key: to}, each)
	}
}

// A pastCursor finds, key by key, the versions that ended after a revision but
// did not begin after it. It reads ahead a few at a time, since the tree can
// only be walked by callback.
type pastCursor[V any] struct {
	tree  *btree.BTreeG[pastEntry[V]]
	rev   Revision
	to    string
	seek  pastEntry[V] // where to go on; with end == never, past all versions of the key
	done  bool
	ahead []*Item[V] // found and not returned yet, a part of found
	found [64]*Item[V]
}

// never is later than any revision.
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

// readAhead finds the next versions, none if there are no more.
//
// A key with many versions is not walked through: after a few steps that found
// nothing the tree is searched for where to go on.
func (c *pastCursor[V]) readAhead() {
	const patience = 8
	c.ahead = c.found[:0]
	for !c.done && len(c.ahead) < len(c.found) {
		c.done = true // unless the walk is broken off
		idle := 0
		c.tree.AscendGreaterOrEqual(c.seek, func(e pastEntry[V]) bool {
			if c.to != "" && e.key >= c.to {
				return false
			}
			idle++
			if e.end <= c.rev {
				c.seek = pastEntry[V]{key: e.key, end: c.rev + 1}
			} else {
				// No later version of the key can have begun before the first
				// that ended after the view.
				c.seek = pastEntry[V]{key: e.key, end: never}
				if e.item.Modified <= c.rev {
					c.ahead = append(c.ahead, e.item)
					idle = 0
				}
			}
			c.done = idle < patience && len(c.ahead) < len(c.found)
			return c.done
		})
	}
}
