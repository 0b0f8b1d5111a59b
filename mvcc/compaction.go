package mvcc

import "time"

// Compaction has two steps. Raising the compacted revision makes older revisions
// unreachable for readers and watchers, at once. Trimming then frees their memory and
// requires writer. It walks the log, not the store: each change has the version that it
// ended. Each commit trims a few changes for each one that it adds, so that the backlog
// after a jump of the clock shrinks.

const (
	trimPerChange = 4
	trimPerLock   = 256
)

// Compact discards the history below a revision. The state at rev can still be viewed,
// and changes can be watched from rev on. The memory of older versions is freed unless
// views or forks still have them.
//
// The error is a [RevisionError]: [ErrCompacted] if rev is not above the compacted
// revision, [ErrFutureRevision] if it is above the newest one.
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

// Trim frees the memory of history that is compacted: of what [Options] do not keep and
// later transactions have not freed yet.
func (s *Store[V]) Trim() {
	now := s.now()
	s.writer.Lock()
	defer s.writer.Unlock()
	s.mu.Lock()
	s.expireLocked(now)
	s.mu.Unlock()
	for s.trim(trimPerLock) {
	}
}

// Compacted returns the compacted revision: the oldest one that can be viewed, or 0 if
// nothing is compacted.
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

// expireLocked raises the compacted revision as the options require. Methods that
// depend on it call it first, with the result of [Store.now].
func (s *Store[V]) expireLocked(now time.Time) {
	if keep := s.opts.KeepRevisions; keep > 0 {
		s.compacted = max(s.compacted, min(s.rev-Revision(keep), s.newestLocked()))
	}
	if s.opts.KeepFor <= 0 {
		return
	}
	cutoff := now.Add(-s.opts.KeepFor)
	if s.oldest.After(cutoff) {
		return
	}
	s.log.entries.AscendGreaterOrEqual(logEntry[V]{rev: s.compacted + 1}, func(e logEntry[V]) bool {
		if e.tx.Time.After(cutoff) {
			s.oldest = e.tx.Time
			return false
		}
		s.compacted = e.rev
		return true
	})
}

func (s *Store[V]) trim(limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trimLocked(limit)
}

// newestLocked returns the first revision of the newest transaction, 0 if the log is empty.
func (s *Store[V]) newestLocked() Revision {
	newest, ok := s.log.entries.Max()
	if !ok {
		return 0
	}
	return newest.tx.First()
}

// trimLocked removes up to limit changes below the compacted revision, or as many
// more as Options.KeepBytes requires, with the versions that they ended. It reports
// whether there may be more. It keeps the change at the compacted revision for
// watchers from that revision on. The caller holds writer.
func (s *Store[V]) trimLocked(limit int) bool {
	s.takeReplicaViewsLocked()
	for n := 0; n < limit || s.opts.KeepBytes > 0 && s.history.kept() > s.opts.KeepBytes; n++ {
		oldest, ok := s.log.entries.Min()
		if !ok || oldest.rev >= s.compacted {
			return false
		}
		if prev := oldest.event().Prev; prev != nil {
			s.past.delete(pastEntry[V]{key: prev.Key, end: oldest.rev})
		}
		s.log.deleteMin()
		next, _ := s.log.entries.Min() // the change at the compacted revision is kept
		s.history.trimmed = next.before
	}
	return true
}
