package mvcc

import "sync"

// maxCounts is the number of ranges whose sizes a store remembers.
const maxCounts = 256

// counts are the sizes of ranges that were counted not long ago. It is safe for concurrent
// use.
type counts struct {
	mu    sync.Mutex
	known map[countedRange]count
}

// A countedRange is the keys in [from, to).
type countedRange struct{ from, to string }

// A count is the number of items in a range at a revision.
type count struct {
	rev Revision
	n   int
}

func (c *counts) get(r countedRange) (count, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.known[r]
	return known, ok
}

func (c *counts) put(r countedRange, n count) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxCounts {
		c.known = map[countedRange]count{}
	}
	c.known[r] = n
}

func (c *counts) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = nil
}

// Count returns the number of items in [from, to) of a view of the store, as
// [View.Count] does. It does not walk the range if it was counted not long ago: then it
// walks the changes between the two revisions.
func (s *Store[V]) Count(v *View[V], from, to string) int {
	if to != "" && from >= to {
		return 0
	}
	r := countedRange{from, to}
	known, ok := s.counts.get(r)
	if !ok || !s.moveCount(&known, v.rev, r) {
		known.n = v.Count(from, to)
	}
	known.rev = v.rev
	s.counts.put(r, known)
	return known.n
}

// CountAfter is Count of [next, to) for a caller that has found n items in [from, next), a page
// of [from, to). It walks no items if the caller asks for the pages one after another.
func (s *Store[V]) CountAfter(v *View[V], from, next, to string, n int) int {
	rest := s.Count(v, from, to) - n
	s.counts.put(countedRange{next, to}, count{v.rev, rest})
	return rest
}

// moveCount changes a count to another revision. It returns false, and leaves c
// undefined, if there are more changes between the two than items in the range, or
// if one of them is compacted.
func (s *Store[V]) moveCount(c *count, rev Revision, r countedRange) bool {
	first, last, sign := c.rev+1, rev, 1
	if rev < c.rev {
		first, last, sign = rev+1, c.rev, -1
	}
	if first > last {
		return true
	}
	if last-first >= Revision(c.n) {
		return false
	}
	next := first
	for change := range s.changes(first) {
		if change.rev != next || next > last {
			break
		}
		next++
		e := change.event()
		if e.Item.Key < r.from || r.to != "" && e.Item.Key >= r.to {
			continue
		}
		switch {
		case e.Type == Delete:
			c.n -= sign
		case e.Prev == nil:
			c.n += sign
		}
	}
	return next == last+1
}
