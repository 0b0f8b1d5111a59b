package mvcc

import "time"

// Compaction comes in two steps. Raising the compacted revision takes older
// revisions out of reach, at once and at no cost; it is what readers and
// watchers go by. Trimming then frees what is out of reach, and has to hold
// writer. It walks the log, not the store: what a transaction ended, its events
// name. So each transaction is trimmed once, and each commit, trimming a few
// older ones, pays for itself and for what a clock that jumped left behind.

const (
	trimPerCommit = 4
	trimPerLock   = 256
)

// Compact gives up the history below a revision: what was current at rev can
// still be viewed, and watched from rev on, but nothing older. The memory of
// what nothing else holds is freed.
//
// The error is a [RevisionError]: [ErrCompacted] if rev is not above the
// compacted revision, [ErrFutureRevision] if it is above the newest one.
func (s *Store[V]) Compact(rev Revision) error {
	now := s.now()
	s.writer.Lock()
	defer s.writer.Unlock()
	if err := s.raiseCompacted(now, rev); err != nil {
		return err
	}
	for s.trim(trimPerLock) {
	}
	return nil
}

// Compacted returns the compacted revision: the oldest that can be viewed, or 0
// if nothing has been compacted.
func (s *Store[V]) Compacted() Revision {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireLocked(now)
	return s.compacted
}

func (s *Store[V]) raiseCompacted(now time.Time, rev Revision) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireLocked(now)
	switch {
	case rev <= s.compacted:
		return s.errorLocked(ErrCompacted, rev)
	case rev > s.rev:
		return s.errorLocked(ErrFutureRevision, rev)
	}
	s.compacted = rev
	return nil
}

// expireLocked raises the compacted revision to what the options call for.
// Every method for which it matters calls it first, with [Store.now].
func (s *Store[V]) expireLocked(now time.Time) {
	if keep := s.opts.KeepRevisions; keep > 0 {
		s.compacted = max(s.compacted, s.rev-Revision(keep))
	}
	if s.opts.KeepFor > 0 {
		cutoff := now.Add(-s.opts.KeepFor)
		s.log.entries.AscendGreaterOrEqual(logEntry[V]{rev: s.compacted + 1}, func(e logEntry[V]) bool {
			if e.tx.Time.After(cutoff) {
				return false
			}
			s.compacted = e.rev
			return true
		})
	}
}

func (s *Store[V]) trim(limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trimLocked(limit)
}

// trimLocked drops up to limit transactions from below the compacted revision,
// with the versions that they ended, and reports whether there may be more. The
// transaction at the compacted revision stays, for watchers from there on. The
// caller holds writer.
func (s *Store[V]) trimLocked(limit int) bool {
	s.keepViewsLocked()
	for range limit {
		oldest, ok := s.log.entries.Min()
		if !ok || oldest.rev >= s.compacted {
			return false
		}
		for _, e := range oldest.tx.Events {
			if e.Prev != nil {
				s.past.delete(pastEntry[V]{key: e.Prev.Key, end: oldest.rev})
			}
		}
		s.log.deleteMin()
	}
	return true
}
