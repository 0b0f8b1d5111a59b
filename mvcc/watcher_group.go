package mvcc

import (
	"cmp"
	"slices"
)

// groups finds the synced watchers of a changed key. The watchers of one prefix are a
// group. A change looks up the prefixes of its key that have the length of some
// group's prefix. Store.mu guards it.
type groups struct {
	byPrefix map[string]*group
	lengths  []prefixLength // ascending
}

type prefixLength struct {
	length int
	groups int // the number of groups with a prefix of that length, at least 1
}

type group struct {
	prefix   string
	watchers int
	synced   *syncPoint // held by the watchers that are synced now; nil if none is
}

// A syncPoint is held by watchers of a group that were synced at the same time. It
// records the first change since then. That change removes it from the group, so
// watchers that are synced later get a new one.
type syncPoint struct {
	firstChange Revision // 0 if there was none
	changed     signal
}

// A signal wakes the goroutines that wait for it.
type signal struct {
	next chan struct{} // closed by the next send; nil if nobody waits
}

// wait returns a channel that is closed by the next send.
func (s *signal) wait() <-chan struct{} {
	if s.next == nil {
		s.next = make(chan struct{})
	}
	return s.next
}

func (s *signal) send() {
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}

func newGroups() groups {
	return groups{byPrefix: make(map[string]*group)}
}

// join returns the group of a prefix and adds a watcher to it.
func (gs *groups) join(prefix string) *group {
	g := gs.byPrefix[prefix]
	if g == nil {
		g = &group{prefix: prefix}
		gs.byPrefix[prefix] = g
		i, ok := gs.findLength(len(prefix))
		if !ok {
			gs.lengths = slices.Insert(gs.lengths, i, prefixLength{length: len(prefix)})
		}
		gs.lengths[i].groups++
	}
	g.watchers++
	return g
}

// leave removes a watcher from a group, and the group if it was the last one.
func (gs *groups) leave(g *group) {
	if g.watchers--; g.watchers > 0 {
		return
	}
	delete(gs.byPrefix, g.prefix)
	i, _ := gs.findLength(len(g.prefix))
	if gs.lengths[i].groups--; gs.lengths[i].groups == 0 {
		gs.lengths = slices.Delete(gs.lengths, i, i+1)
	}
}

func (gs *groups) findLength(n int) (int, bool) {
	return slices.BinarySearchFunc(gs.lengths, n, func(l prefixLength, n int) int {
		return cmp.Compare(l.length, n)
	})
}

// changed wakes the synced watchers of a key.
func (gs *groups) changed(key string, rev Revision) {
	for _, l := range gs.lengths {
		if l.length > len(key) {
			return
		}
		if g := gs.byPrefix[key[:l.length]]; g != nil && g.synced != nil {
			g.synced.firstChange = rev
			g.synced.changed.send()
			g.synced = nil
		}
	}
}

// syncPoint returns the sync point for a watcher that is synced now.
func (g *group) syncPoint() *syncPoint {
	if g.synced == nil {
		g.synced = new(syncPoint)
	}
	return g.synced
}
