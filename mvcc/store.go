package mvcc

import (
	"sync"
	"time"
)

// A Store holds the versions of a set of keys. Make one with [New] or
// [Store.Fork]; all its methods may be called from any goroutine. A store has
// no goroutines of its own and needs no closing.
type Store[V any] struct {
	opts Options

	// writer is held for the whole of an Update or a Compact, which makes
	// transactions serial. It is acquired before mu.
	writer sync.Mutex

	// mu guards all that follows. Whoever changes the trees holds writer as
	// well; mu is held while changes are applied, never while a caller's code
	// runs or a tree is walked.
	mu        sync.Mutex
	rev       Revision
	compacted Revision // what may be read; the trees can still hold a little more

	// live has each key that exists, past has each version that some event of
	// the log ended, and log has the transactions, dense from the oldest kept
	// one to rev.
	live tree[liveEntry[V]]
	past tree[pastEntry[V]]
	log  tree[logEntry[V]]

	groups groups
	moved  signal // the next transaction

	lagging map[*Replica[V]]struct{} // the replicas that have a lag
}

// empty is the revision of a store without transactions, the oldest there is.
const empty Revision = 1

// New returns an empty store, at revision 1.
func New[V any](opts Options) *Store[V] {
	return &Store[V]{
		opts:    opts.withDefaults(),
		rev:     empty,
		live:    newTree(liveLess[V]),
		past:    newTree(pastLess[V]),
		log:     newTree(logLess[V]),
		groups:  newGroups(),
		lagging: make(map[*Replica[V]]struct{}),
	}
}

// Fork returns a store that has the contents and the kept history of s, its
// revision and compacted revision, and none of its watchers and replicas. From then on the
// two know nothing of each other: each has its own transactions, compaction,
// watchers and options. They share the items.
//
// A fork takes the same short time whatever the size of the store. What is
// shared is copied piece by piece as either store changes it.
func (s *Store[V]) Fork(opts Options) *Store[V] {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireLocked(now)
	return &Store[V]{
		opts:      opts.withDefaults(),
		rev:       s.rev,
		compacted: s.compacted,
		live:      s.live.fork(),
		past:      s.past.fork(),
		log:       s.log.fork(),
		groups:    newGroups(),
		lagging:   make(map[*Replica[V]]struct{}),
	}
}

// Revision returns the revision of the newest transaction.
func (s *Store[V]) Revision() Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rev
}

// now reads the clock if the present matters to what has been compacted. It
// must not be called with mu held, because the clock is the caller's code.
func (s *Store[V]) now() time.Time {
	if s.opts.KeepFor <= 0 {
		return time.Time{}
	}
	return s.opts.Now()
}

// errorLocked returns the error for a revision that is out of bounds.
func (s *Store[V]) errorLocked(cause error, requested Revision) error {
	return &RevisionError{Err: cause, Requested: requested, Compacted: s.compacted, Current: s.rev}
}
