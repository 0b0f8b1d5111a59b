package mvcc

import (
	"context"
	"strings"
	"time"

	"github.com/google/btree"
)

// A Watcher delivers the events of the keys with one prefix, in the order of
// their revisions, each once, those of one transaction together. It is a
// position in the revision log, not a queue: a watcher that is not polled costs
// nothing, and holds nothing that compaction would free.
//
// A watcher is for one goroutine at a time, but Close may be called from any.
// A watcher that is not closed costs each later change of the store a little.
type Watcher[V any] struct {
	store   *Store[V]
	replica *Replica[V] // what it watches of the store; nil if all
	prefix  string
	next    Revision // the first revision that has not been looked at
	polled  time.Time
	events  []Event[V]

	// Guarded by store.mu.
	group  *group  // nil once closed
	ticket *ticket // nil if the log is to be read from next on, or the replica lags
}

// Watch returns a watcher of the keys that begin with prefix, for the events
// from a revision on: 0 for those after now. The revision may be in the future;
// events before it are not delivered. The caller must close the watcher.
//
// The error is a [RevisionError] with [ErrCompacted] if the revision is below
// the compacted one.
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
		from = w.endLocked() + 1
	}
	if from < s.compacted && from <= w.endLocked() {
		return nil, s.errorLocked(ErrCompacted, from)
	}
	w.next = max(from, empty+1)
	w.group = s.groups.join(prefix)
	w.settleLocked()
	return w, nil
}

// Poll returns the next events without waiting for them, none if all there are
// have been delivered. It stops at limit events, but only between transactions,
// so there may be more; limit <= 0 is none. The slice is valid until the next
// Poll or Next, the items in it for ever.
//
// It returns a [RevisionError] with [ErrCompacted] if compaction has overtaken
// the watcher: there may have been events that it can no longer deliver. This
// is final. A watcher that has delivered all there was is never overtaken,
// however far the store is compacted. After Close it returns [ErrClosed].
func (w *Watcher[V]) Poll(limit int) ([]Event[V], error) {
	now := w.store.now()
	w.polled = now
	clear(w.events)
	w.events = w.events[:0]
	for {
		log, end, err := w.pending(now)
		switch {
		case len(w.events) > 0:
			return w.events, nil // what is left, and the error, are for the next Poll
		case log == nil:
			return nil, err
		}
		log.AscendGreaterOrEqual(logEntry[V]{rev: w.next}, func(e logEntry[V]) bool {
			if e.rev > end {
				return false
			}
			for _, event := range e.tx.Events {
				if strings.HasPrefix(event.Item.Key, w.prefix) {
					w.events = append(w.events, event)
				}
			}
			w.next = e.rev + 1
			return limit <= 0 || len(w.events) < limit
		})
	}
}

// pending returns the log, and how far to read it, if it may have events from
// w.next on. If not, it makes the watcher wait and returns nil.
func (w *Watcher[V]) pending(now time.Time) (*btree.BTreeG[logEntry[V]], Revision, error) {
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.group == nil {
		return nil, 0, ErrClosed
	}
	s.expireLocked(now)
	w.next = w.progressLocked() + 1
	w.ticket = nil
	switch {
	case w.settleLocked():
		return nil, 0, nil
	case w.next < s.compacted:
		return nil, 0, s.errorLocked(ErrCompacted, w.next)
	}
	return s.log.snapshot(), w.endLocked(), nil
}

// endLocked returns the newest revision that the watcher may see.
func (w *Watcher[V]) endLocked() Revision {
	if w.replica != nil {
		return w.replica.endLocked()
	}
	return w.store.rev
}

// settleLocked reports whether there is nothing to read from w.next on. If so,
// the watcher waits for what comes: for a change of its keys, or, if its replica
// lags, for that to move.
func (w *Watcher[V]) settleLocked() bool {
	if w.next <= w.endLocked() {
		return false
	}
	if !w.replica.lagsLocked() {
		w.ticket = w.group.wait()
	}
	return true
}

// progressLocked returns the newest revision up to which there is nothing left
// to deliver.
func (w *Watcher[V]) progressLocked() Revision {
	done := w.next - 1
	switch t := w.ticket; {
	case t == nil:
		return done
	case t.first == 0:
		return max(done, w.endLocked())
	default:
		return max(done, min(t.first-1, w.endLocked()))
	}
}

// Revision returns how far the watcher has come: every event at or below that
// revision has been returned by Poll or Next, and a new watcher from the
// revision after it continues where this one is. It also moves past changes of
// other keys. It is what a bookmark may say.
func (w *Watcher[V]) Revision() Revision {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	return w.progressLocked()
}

// Polled returns how far the watcher had come when Poll last returned, and when
// that was called: the zero time where age does not matter to the store. Unlike
// Revision it does not look at the store.
func (w *Watcher[V]) Polled() (Revision, time.Time) { return w.next - 1, w.polled }

// called is what Wait returns when there is nothing to wait for.
var called = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Wait returns a channel that is closed when Poll may have something to return,
// an event or an error. No wake-up is lost: if something came up since the last
// Poll, the channel is closed already. Poll until there is nothing more, then
// wait; each time, call Wait anew. Close does not close the channel.
func (w *Watcher[V]) Wait() <-chan struct{} {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	switch t := w.ticket; {
	case w.group == nil:
		return called
	case w.replica.lagsLocked():
		if w.progressLocked() < w.endLocked() {
			return called
		}
		return w.replica.moved.wait()
	case t == nil || t.first != 0:
		return called
	default:
		return t.called.wait()
	}
}

// Next waits for events and returns them as [Watcher.Poll] does, a few hundred
// at most unless a transaction is larger. It returns the error of ctx once that
// is done.
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

// Close ends the watch. It may be called more than once. It does not wake who
// waits for the watcher.
func (w *Watcher[V]) Close() {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	if w.group != nil {
		w.store.groups.leave(w.group)
		w.group, w.ticket = nil, nil
	}
}
