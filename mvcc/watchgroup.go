package mvcc

import (
	"cmp"
	"slices"
)

// groups finds, for a changed key, the watchers that wait for it. Watchers of
// one prefix are a group, whatever their number; a change looks up the
// beginnings of its key that are as long as some prefix. Store.mu guards it.
type groups struct {
	byPrefix map[string]*group
	lengths  []prefixLength // ascending
}

type prefixLength struct {
	length int
	groups int // how many groups have a prefix of that length, at least 1
}

type group struct {
	prefix   string
	watchers int
	ticket   *ticket // what the watchers that have seen everything hold, if any
}

// A ticket is held by the watchers of a group that have seen everything up to
// the present, and tells them what the first thing was that they have not. The
// change that sets it takes it from the group, so that those who come later get
// a ticket of their own.
type ticket struct {
	first  Revision // of the first change since, 0 if there was none
	called signal   // that change
}

// A signal calls those who wait for something, each time that it comes.
type signal struct {
	next chan struct{} // closed when it comes; nil while nobody waits
}

// wait returns a channel that is closed with the next call.
func (g *signal) wait() <-chan struct{} {
	if g.next == nil {
		g.next = make(chan struct{})
	}
	return g.next
}

func (g *signal) call() {
	if g.next != nil {
		close(g.next)
		g.next = nil
	}
}

func newGroups() groups {
	return groups{byPrefix: make(map[string]*group)}
}

// join returns the group of a prefix, with one more watcher.
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

// leave takes one watcher from a group, and the group away with its last.
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

// changed calls the watchers that wait for a key.
func (gs *groups) changed(key string, rev Revision) {
	for _, l := range gs.lengths {
		if l.length > len(key) {
			return
		}
		if g := gs.byPrefix[key[:l.length]]; g != nil && g.ticket != nil {
			g.ticket.call(rev)
			g.ticket = nil
		}
	}
}

// wait returns the ticket of those who have seen everything up to now.
func (g *group) wait() *ticket {
	if g.ticket == nil {
		g.ticket = new(ticket)
	}
	return g.ticket
}

func (t *ticket) call(rev Revision) {
	t.first = rev
	t.called.call()
}
