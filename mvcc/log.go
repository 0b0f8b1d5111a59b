package mvcc

import (
	"iter"
	"sort"
	"time"
)

// Log returns the transactions from a revision on, oldest first, up to the newest one
// when the iteration starts. It omits compacted transactions: the iteration then starts
// at the compacted revision.
func (s *Store[V]) Log(from Revision) iter.Seq[*Transaction[V]] {
	return func(yield func(*Transaction[V]) bool) {
		now := s.now()
		s.mu.Lock()
		s.expireLocked(now)
		log, first := s.log.snapshot(), max(from, s.compacted)
		s.mu.Unlock()
		log.AscendGreaterOrEqual(logEntry[V]{rev: first}, func(e logEntry[V]) bool {
			return yield(e.tx)
		})
	}
}

// RevisionAt returns the revision of the store at a time: that of the newest
// transaction not after it. For a time before the oldest kept transaction it returns
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
