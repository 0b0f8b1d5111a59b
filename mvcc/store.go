package mvcc

import (
	"iter"
	"sync"
	"time"
)

// A Store is a key-value store with history. Create one with [New] or [Store.Fork].
// All methods may be called concurrently. A store has no goroutines and needs no
// closing.
type Store[V any] struct {
	opts   Options
	sizers bool // the values are Sizers

	// writer is held during an Update or a Compact, so that transactions are
	// serial. It is acquired before mu.
	writer sync.Mutex

	// mu guards the fields below. Changing the trees requires writer too. mu is
	// not held while the caller's code runs or while many items are read. Compaction by
	// age and the moves of lagging replicas read the log with it.
	mu        sync.Mutex
	rev       Revision
	compacted Revision  // the lowest readable revision; the trees may have older entries
	oldest    time.Time // no transaction above compacted is older; zero if unknown

	// live has the keys that exist. past has the versions that events in log ended.
	// log has the transactions, without gaps, from the oldest kept one to rev.
	live tree[liveEntry[V]]
	past tree[pastEntry[V]]
	log  tree[logEntry[V]]

	history   historySize
	liveBytes int64
	counts    counts
	recent    *recent[V]

	groups groups
	moved  signal // sent by each transaction

	lagging map[*Replica[V]]struct{} // the replicas with a lag; nil if none ever had one
}

// emptyRevision is the revision of a store without transactions.
const emptyRevision Revision = 1

// New returns an empty store at revision 1.
func New[V any](opts Options) *Store[V] {
	return &Store[V]{
		opts:   opts.withDefaults(),
		sizers: isSizer[V](),
		rev:    emptyRevision,
		live:   newTree(liveLess[V]),
		past:   newTree(pastLess[V]),
		log:    newTree(logLess[V]),
		recent: new(recent[V]),
		groups: newGroups(),
	}
}

// Fork returns a store with the contents, the kept history, the revision and the
// compacted revision of s, but without its watchers and replicas. The two stores are
// independent: each has its own transactions, compaction, watchers and options. They
// share the items.
//
// The cost does not depend on the size of the store: shared nodes are copied when
// either store changes them.
func (s *Store[V]) Fork(opts Options) *Store[V] {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireLocked(now)
	return &Store[V]{
		opts:      opts.withDefaults(),
		sizers:    s.sizers,
		rev:       s.rev,
		compacted: s.compacted,
		live:      s.live.fork(),
		past:      s.past.fork(),
		log:       s.log.fork(),
		history:   s.history,
		liveBytes: s.liveBytes,
		recent:    new(recent[V]),
		groups:    newGroups(),
	}
}

// Revision returns the revision of the newest transaction.
func (s *Store[V]) Revision() Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rev
}

// now returns the current time if compaction depends on it. It must not be called with
// mu held, because the clock is the caller's code.
func (s *Store[V]) now() time.Time {
	if s.opts.KeepFor <= 0 {
		return time.Time{}
	}
	return s.opts.Now()
}

// errorLocked returns the error for a revision that is out of range.
func (s *Store[V]) errorLocked(cause error, requested Revision) error {
	return &RevisionError{Err: cause, Requested: requested, Compacted: s.compacted, Current: s.rev}
}

// Load replaces the contents of a store without history: the store then has the items,
// which are shared, at revision rev, or at its own one if that is greater. Earlier
// revisions are compacted. The store must have no watchers and no replicas with a lag.
// No transaction may run meanwhile.
func (s *Store[V]) Load(rev Revision, items iter.Seq[*Item[V]]) {
	live, liveBytes := newTree(liveLess[V]), int64(0)
	for item := range items {
		live.put(liveEntry[V]{item.Key, item})
		if s.sizers {
			liveBytes += any(item.Value).(Sizer).Size()
		}
	}
	s.writer.Lock()
	defer s.writer.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rev = max(s.rev, rev)
	s.compacted, s.oldest = s.rev, time.Time{}
	s.live, s.past, s.log = live, newTree(pastLess[V]), newTree(logLess[V])
	s.history, s.liveBytes = historySize{}, liveBytes
	s.counts.clear()
	s.recent = new(recent[V])
	s.moved.send()
}
