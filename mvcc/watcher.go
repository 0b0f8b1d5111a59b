package mvcc

import (
	"context"
	"strings"
	"time"

	"github.com/google/btree"
)

// A Watcher returns the events of the keys with a prefix: in the order of their
// revisions, each once. It is a position in the
// log, not a queue: an idle watcher costs nothing and keeps no memory from compaction.
//
// Its methods must not be called concurrently, except Close. A watcher that is not
// closed adds a small cost to later changes.
type Watcher[V any] struct {
	store   *Store[V]
	replica *Replica[V] // limits what the watcher sees; nil if it sees all
	prefix  string
	next    Revision // the first revision that is not processed
	polled  time.Time
	events  []Event[V]

	// Guarded by store.mu.
	group  *group     // nil once closed
	synced *syncPoint // nil if the watcher must read the log, or the replica lags
}

// Watch returns a watcher of the keys with a prefix. It returns the events from a
// revision on, which may be in the future, or the events after now if from is 0. The
// caller must close the watcher.
//
// The error is a [RevisionError] with [ErrCompacted] if the revision is below the
// compacted one.
func (s *Store[V]) Watch(prefix string, from Revision) (*Watcher[V], error) {
	return s.watch(nil, prefix, from)
}

func (s *Store[V]) watch(r *Replica[V], prefix string, from Revision) (*Watcher[V], error) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireLocked(now)
	w := &Watcher[V]{store: s, replica: r, prefix: prefix}
	if from == 0 {
		from = w.newestLocked() + 1
	}
	if from < s.compacted && from <= w.newestLocked() {
		return nil, s.errorLocked(ErrCompacted, from)
	}
	w.next = max(from, emptyRevision+1)
	w.group = s.groups.join(prefix)
	if w.next > w.newestLocked() {
		w.syncLocked()
	}
	return w, nil
}

// Poll returns the next events without waiting, or none if all were returned. It stops
// after limit events, or after a mebibyte of values that are a [Sizer], also within a
// transaction, so there may be more. limit <= 0 means no limit. The slice is valid until
// the next Poll, Next or Wait; the items stay valid.
//
// It returns a [RevisionError] with [ErrCompacted] if events may have been compacted
// before the watcher has returned them. This error is final. Compaction never affects a
// synced watcher. After Close, Poll returns [ErrClosed].
func (w *Watcher[V]) Poll(limit int) ([]Event[V], error) {
	now := w.store.now()
	w.polled = now
	clear(w.events)
	w.events = w.events[:0]
	unread, err := w.unread(now)
	if err != nil {
		return nil, err
	}
	room := int64(maxPolled)
	unread.each(func(e logEntry[V]) bool {
		if event := e.event(); strings.HasPrefix(event.Item.Key, w.prefix) {
			w.events = append(w.events, *event)
			if w.store.sizers && event.Type == Put {
				room -= any(event.Item.Value).(Sizer).Size()
			}
		}
		w.next = e.rev + 1
		return limit <= 0 || len(w.events) < limit && room > 0
	})
	if w.next <= unread.last {
		w.unsync()
	}
	return w.events, nil
}

const (
	// maxPolled is how many bytes of values Poll returns with a limit. A caller that
	// does not continue holds them in memory after they are compacted.
	maxPolled = 1 << 20

	// keptEvents is the capacity of events that a waiting watcher keeps.
	keptEvents = 16
)

// A logPart is a part of the log.
type logPart[V any] struct {
	only        logEntry[V] // of a part with one change; then log is nil
	log         *btree.BTreeG[logEntry[V]]
	first, last Revision // none if last is less than first
}

// each calls yield for the changes, oldest first, while it returns true.
func (p logPart[V]) each(yield func(logEntry[V]) bool) {
	switch {
	case p.only.tx != nil:
		yield(p.only)
	case p.log != nil:
		p.log.AscendGreaterOrEqual(logEntry[V]{rev: p.first}, func(e logEntry[V]) bool {
			return e.rev <= p.last && yield(e)
		})
	}
}

// unread returns the part of the log that the watcher may see and has not read. The watcher is
// synced when it has read it.
func (w *Watcher[V]) unread(now time.Time) (logPart[V], error) {
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.group == nil {
		return logPart[V]{}, ErrClosed
	}
	s.expireLocked(now)
	w.next = w.progressLocked() + 1
	w.synced = nil
	end := w.newestLocked()
	if w.next <= end && w.next < s.compacted {
		return logPart[V]{}, s.errorLocked(ErrCompacted, w.next)
	}
	w.syncLocked()
	part := logPart[V]{first: w.next, last: end}
	switch {
	case w.next > end:
	case w.next == s.rev: // without a snapshot, after which the next write copies a part of the log
		part.only, _ = s.log.entries.Max()
	default:
		part.log = s.log.snapshot()
	}
	return part, nil
}

// unsync notes that there is more to read.
func (w *Watcher[V]) unsync() {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	w.synced = nil
}

// newestLocked returns the newest revision that the watcher may see.
func (w *Watcher[V]) newestLocked() Revision {
	if w.replica != nil {
		return w.replica.revisionLocked()
	}
	return w.store.rev
}

// syncLocked lets the watcher, which has read all that it may see now, wait for the next
// change of its keys. If its replica lags, it waits for a move of the replica instead.
func (w *Watcher[V]) syncLocked() {
	if !w.replica.lagsLocked() {
		w.synced = w.group.syncPoint()
	}
}

// progressLocked returns the revision up to which all events were returned.
func (w *Watcher[V]) progressLocked() Revision {
	done := w.next - 1
	switch p := w.synced; {
	case p == nil:
		return done
	case p.firstChange == 0:
		return max(done, w.newestLocked())
	default:
		return max(done, min(p.firstChange-1, w.newestLocked()))
	}
}

// Revision returns the revision up to which Poll and Next have returned all events. A
// new watcher from the following revision continues where this one is. Changes of other
// keys raise it too. It is the revision for a bookmark.
func (w *Watcher[V]) Revision() Revision {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	return w.progressLocked()
}

// Polled returns the revision of the watcher when Poll last returned, and the time of
// that call, which is zero if Options.KeepFor is not set. Unlike Revision it takes no
// lock.
func (w *Watcher[V]) Polled() (Revision, time.Time) { return w.next - 1, w.polled }

// Peers returns the number of open watchers with the same prefix in the store, this one
// included: a change of a key with it wakes all of them. It is 0 after Close.
func (w *Watcher[V]) Peers() int {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	if w.group == nil {
		return 0
	}
	return w.group.watchers
}

// closedChan is a closed channel.
var closedChan = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Wait returns a channel that is closed when Poll may return an event or an error. If
// there is one already, the channel is closed. Call Wait again after each Poll. Close does
// not close the channel.
func (w *Watcher[V]) Wait() <-chan struct{} {
	clear(w.events) // a watcher that waits keeps no values in memory
	if w.events = w.events[:0]; cap(w.events) > keptEvents {
		w.events = nil
	}
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	switch p := w.synced; {
	case w.group == nil:
		return closedChan
	case w.replica.lagsLocked():
		if w.progressLocked() < w.newestLocked() {
			return closedChan
		}
		return w.replica.moved.wait()
	case p == nil || p.firstChange != 0:
		return closedChan
	default:
		return p.changed.wait()
	}
}

// Next waits for events and returns them as [Watcher.Poll] does, at most a few hundred. It
// returns the error of ctx when ctx is done.
func (w *Watcher[V]) Next(ctx context.Context) ([]Event[V], error) {
	const batch = 256
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if events, err := w.Poll(batch); err != nil || len(events) > 0 {
			return events, err
		}
		select {
		case <-w.Wait():
		case <-ctx.Done():
		}
	}
}

// Close ends the watch. It may be called more than once. It does not wake waiting
// goroutines.
func (w *Watcher[V]) Close() {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	if w.group != nil {
		w.store.groups.leave(w.group)
		w.group, w.synced = nil, nil
	}
}
