package mvcc

import "sync"

// maxCounts is the number of ranges whose sizes a store remembers.
const maxCounts = 256

// counts are the sizes of ranges that were counted not long ago, by their ends. It is safe
// for concurrent use.
type counts struct {
	mu    sync.Mutex
	known map[string]count
}

// A count is the number of items in a range at a revision.
type count struct {
	rev  Revision
	from string
	n    int
}

func (c *counts) get(to string) (count, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.known[to]
	return known, ok
}

func (c *counts) put(to string, n count) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxCounts {
		c.known = map[string]count{}
	}
	c.known[to] = n
}

func (c *counts) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = nil
}

// Count returns the number of items in [from, to) of a view of the store, as
// [View.Count] does. It does not walk the range if a range with the same end was counted
// not long ago: then it walks what lies between the two starts, and the transactions
// between the two revisions.
func (s *Store[V]) Count(v *View[V], from, to string) int {
	if to != "" && from >= to {
		return 0
	}
	known, ok := s.counts.get(to)
	if ok {
		ok = s.moveCount(&known, v.rev, to)
	}
	switch {
	case !ok:
		known.n = v.Count(from, to)
	case known.from < from:
		known.n -= v.Count(known.from, from)
	case known.from > from:
		known.n += v.Count(from, known.from)
	}
	known.rev, known.from = v.rev, from
	s.counts.put(to, known)
	return known.n
}

// moveCount changes a count to another revision. It returns false, and leaves c
// undefined, if there are more transactions between the two than items in the range, or
// if one of them is compacted.
func (s *Store[V]) moveCount(c *count, rev Revision, to string) bool {
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
	for tx := range s.Log(first) {
		if tx.Revision != next || next > last {
			break
		}
		next++
		for _, e := range tx.Events {
			if e.Item.Key < c.from || to != "" && e.Item.Key >= to {
				continue
			}
			switch {
			case e.Type == Delete:
				c.n -= sign
			case e.Prev == nil:
				c.n += sign
			}
		}
	}
	return next == last+1
}
