package mvcc

import "sort"

// A historySize counts the bytes of the history since the store was created. Each
// change in the log has the count before it, so the size of any part of the log is
// a difference of two counts, and forks share the counts with the log.
type historySize struct {
	added   int64 // by all changes
	trimmed int64 // of added, the part that trimming has removed
	grown   int64 // added at the last call of Options.Grown
}

// kept returns the bytes of the changes in the log.
func (h *historySize) kept() int64 { return h.added - h.trimmed }

// bytesPerEvent is about what an event occupies apart from the value of the previous
// version: the event, its item, and its parts of a transaction and of the trees.
const bytesPerEvent = 256

// eventBytes appends to history what each event adds to it, the event and the value that it
// replaces or deletes. It also returns what the events add to the live values, which may be
// negative.
func (s *Store[V]) eventBytes(events []Event[V], history []int64) (_ []int64, live int64) {
	for i := range events {
		e := &events[i]
		added := int64(bytesPerEvent)
		if s.sizers { // a conversion of other values to interfaces allocates
			if e.Prev != nil {
				size := any(e.Prev.Value).(Sizer).Size()
				added += size - e.sharedBytes()
				live -= size
			}
			if e.Type == Put {
				live += any(e.Item.Value).(Sizer).Size()
			}
		}
		history = append(history, added)
	}
	return history, live
}

// ReplacedBytes returns the bytes of memory that only the previous version occupies, as far as
// the values are a [Sizer] and a [Sharer]; 0 if the key did not exist.
func (e *Event[V]) ReplacedBytes() int64 {
	if e.Prev == nil {
		return 0
	}
	s, ok := any(e.Prev.Value).(Sizer)
	if !ok {
		return 0
	}
	return s.Size() - e.sharedBytes()
}

// sharedBytes returns how many bytes the previous version shares with the new one.
func (e *Event[V]) sharedBytes() int64 {
	s, ok := any(e.Prev.Value).(Sharer[V])
	if !ok || e.Type != Put {
		return 0
	}
	return s.SharedWith(e.Item.Value)
}

// isSizer reports whether the values of a type are Sizers.
func isSizer[V any]() bool {
	var zero V
	_, ok := any(zero).(Sizer)
	return ok
}

// HistoryBytes returns the bytes of memory that only the history occupies: the events in
// the log and the values that they replaced or deleted, as far as the values are a
// [Sizer]. It does not count the newest versions. It counts compacted history until its
// memory is freed.
func (s *Store[V]) HistoryBytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.kept()
}

// LiveBytes returns the bytes of memory of the newest versions, as far as the values are a
// [Sizer]. With [Store.HistoryBytes] it is about the size of the store.
func (s *Store[V]) LiveBytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.liveBytes
}

// fitLocked compacts the store as Options.KeepBytes requires. It returns whether
// Options.Grown is to be called, and the revision to which it has compacted, 0 if it has
// not.
func (s *Store[V]) fitLocked() (grown bool, compacted Revision) {
	keep, h := s.opts.KeepBytes, &s.history
	if keep <= 0 || h.kept() <= keep && h.added-h.grown <= keep/3 {
		return false, 0
	}
	// from returns the bytes of the log from a revision on. They are not those of
	// h.kept, because trimming is behind compaction.
	from := func(rev Revision) int64 {
		e, _ := s.log.entries.Get(logEntry[V]{rev: rev})
		return h.added - e.before
	}
	// All of the newest transaction is kept, for watchers that are synced.
	switch first, newest := max(s.compacted, emptyRevision+1), s.newestLocked(); {
	case from(first) > keep && first < newest:
		later := sort.Search(int(newest-first), func(i int) bool { return from(first+1+Revision(i)) <= keep-keep/4 })
		s.compacted = min(first+1+Revision(later), newest)
		compacted = s.compacted
	case h.added-h.grown <= keep/3:
		return false, 0
	}
	h.grown = h.added
	return true, compacted
}
