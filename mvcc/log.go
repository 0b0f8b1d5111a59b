package mvcc

import (
	"iter"
	"sort"
	"time"
)

// Log returns the transactions from a revision on, oldest first, up to the newest one
// when the iteration starts. It omits compacted changes: the iteration then starts
// at the compacted revision. Of a transaction that began before, the first one has only the
// changes from there on.
func (s *Store[V]) Log(from Revision) iter.Seq[*Transaction[V]] {
	return func(yield func(*Transaction[V]) bool) {
		first := true
		for e := range s.changes(from) {
			tx := e.tx
			switch skipped := e.rev - tx.First(); {
			case skipped == 0:
			case !first:
				continue // the transaction was yielded
			default:
				tx = &Transaction[V]{tx.Revision, tx.Time, tx.Events[skipped:]}
			}
			first = false
			if !yield(tx) {
				return
			}
		}
	}
}

// changes returns the log from a revision on, as Log does.
func (s *Store[V]) changes(from Revision) iter.Seq[logEntry[V]] {
	return func(yield func(logEntry[V]) bool) {
		now := s.now()
		s.mu.Lock()
		s.expireLocked(now)
		log, first := s.log.snapshot(), max(from, s.compacted)
		s.mu.Unlock()
		log.AscendGreaterOrEqual(logEntry[V]{rev: first}, yield)
	}
}

// RevisionAt returns the revision of the store at a time: that of the newest
// change not after it. For a time before the oldest kept change it returns
// the oldest revision that can be viewed.
func (s *Store[V]) RevisionAt(t time.Time) Revision {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireLocked(now)
	oldest := max(s.compacted, emptyRevision)
	later := sort.Search(int(s.rev-oldest), func(i int) bool {
		e, _ := s.log.entries.Get(logEntry[V]{rev: oldest + 1 + Revision(i)})
		return e.tx.Time.After(t)
	})
	return oldest + Revision(later)
}
