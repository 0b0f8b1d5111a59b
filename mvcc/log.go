package mvcc

import (
	"iter"
	"sort"
	"time"
)

// Log returns the transactions from a revision on, oldest first, up to the one
// that is newest when the walk begins. Of those that compaction has taken
// nothing is returned: the walk begins at the compacted revision then.
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

// RevisionAt returns the revision that the store was at at some time: that of
// the newest transaction not after it. For a time before the oldest
// transaction that is kept it returns the oldest revision that can be viewed.
func (s *Store[V]) RevisionAt(t time.Time) Revision {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireLocked(now)
	oldest := max(s.compacted, empty)
	later := sort.Search(int(s.rev-oldest), func(i int) bool {
		e, _ := s.log.entries.Get(logEntry[V]{rev: oldest + 1 + Revision(i)})
		return e.tx.Time.After(t)
	})
	return oldest + Revision(later)
}
