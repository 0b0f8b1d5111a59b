package mvcc

import "time"

// A Lag says how far a [Replica] trails its store. If it says so in several
// ways, the one that holds the replica back most counts. The zero value is no
// lag.
type Lag struct {
	// By, if positive, shows the store as it was that long ago.
	By time.Duration

	// Revisions, if positive, shows the store as it was that many revisions ago.
	Revisions int64

	// Until, if positive, is the last revision that is shown. A replica that is
	// past it stays where it is, as any does if Until is negative.
	Until Revision
}

// A Replica shows a store to those who learn of its changes late. One without a
// lag is at the store's newest revision. One that lags is at an older one, and
// moves on with the transactions of the store, and with time when [Replica.Advance]
// is called. It never goes back, whatever its lag becomes, and never skips to
// where its lag does not allow it to be.
//
// A replica does not notice the compaction of what it has not come to. It shows
// the revision that it is at until its lag lets it go to one that is not
// compacted; only then its watchers are overtaken. If the lag is longer than what
// [Options] keep, that may never be.
//
// Its methods may be called from any goroutine. It needs no closing, but one
// that lags costs each transaction a little until its lag is zero again.
type Replica[V any] struct {
	store *Store[V]

	// Guarded by store.mu. What follows the lag is of a replica that lags.
	lag   Lag
	at    Revision
	view  *View[V] // of at; nil if nobody has needed it yet
	moved signal   // the next move
}

// Replica returns a replica without a lag.
func (s *Store[V]) Replica() *Replica[V] { return &Replica[V]{store: s} }

// Fork returns a replica of a store, which must be this one's or a fork of it,
// that has this one's lag and is at the same revision.
func (r *Replica[V]) Fork(of *Store[V]) *Replica[V] {
	lag, view := r.state()
	out := of.Replica()
	if lag == (Lag{}) {
		return out
	}
	now := of.opts.Now()
	of.mu.Lock()
	defer of.mu.Unlock()
	of.expireLocked(now)
	out.lag, out.at = lag, of.rev
	if view.rev <= of.rev { // the store was not forked before r moved on
		out.at, out.view = view.rev, view
	}
	of.lagging[out] = struct{}{}
	out.advanceLocked(now)
	return out
}

func (r *Replica[V]) state() (Lag, *View[V]) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	return r.lag, r.viewLocked()
}

// Lag returns the lag of the replica.
func (r *Replica[V]) Lag() Lag {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	return r.lag
}

// SetLag changes the lag from now on. A longer lag holds the replica where it
// is until the store is far enough ahead; a shorter one moves it on at once.
func (r *Replica[V]) SetLag(lag Lag) {
	s := r.store
	now := s.opts.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireLocked(now)
	if !r.lagsLocked() {
		r.at = s.rev
	}
	if lag.Until != 0 {
		lag.Until = max(lag.Until, r.at)
	}
	r.lag = lag
	if !r.lagsLocked() {
		delete(s.lagging, r)
		r.view = nil
		r.moved.call()
		return
	}
	s.lagging[r] = struct{}{}
	r.advanceLocked(now)
}

// Skip moves the replica on to a revision, if it is not there yet, in spite of
// its lag. If that is compacted, it moves on to the oldest that is not, and if
// it is in the future, to the newest.
func (r *Replica[V]) Skip(to Revision) {
	s := r.store
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireLocked(now)
	if r.lagsLocked() && to > r.at {
		r.moveLocked(min(max(to, s.compacted), s.rev))
	}
}

// Advance moves the replica on to where it is to be by now.
func (r *Replica[V]) Advance() {
	s := r.store
	now := s.opts.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireLocked(now)
	r.advanceLocked(now)
}

// Due returns when Advance will move the replica on if no transaction comes
// before that; false if it will not.
func (r *Replica[V]) Due() (time.Time, bool) {
	s := r.store
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireLocked(now)
	if r.lag.By <= 0 {
		return time.Time{}, false
	}
	var next *Transaction[V]
	s.log.entries.AscendGreaterOrEqual(logEntry[V]{rev: r.nextLocked()}, func(e logEntry[V]) bool {
		next = e.tx
		return false
	})
	if next == nil || next.Revision > r.boundLocked() {
		return time.Time{}, false
	}
	return next.Time.Add(r.lag.By), true
}

// Revision returns the revision that the replica is at.
func (r *Replica[V]) Revision() Revision {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	return r.endLocked()
}

// View returns what the replica shows now.
func (r *Replica[V]) View() *View[V] {
	_, view := r.state()
	return view
}

// Watch returns a watcher as [Store.Watch] does, which delivers nothing that
// the replica has not come to: from a revision of 0 the events after the one
// that it is at. A change of the lag is one for its watchers, too.
func (r *Replica[V]) Watch(prefix string, from Revision) (*Watcher[V], error) {
	return r.store.watch(r, prefix, from)
}

// Moved returns a channel that is closed when the replica is at another revision
// than now, or could be.
func (r *Replica[V]) Moved() <-chan struct{} {
	s := r.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.lagsLocked() {
		return r.moved.wait()
	}
	return s.moved.wait()
}

// lagsLocked reports whether the replica lags; a nil one does not.
func (r *Replica[V]) lagsLocked() bool { return r != nil && r.lag != (Lag{}) }

// endLocked returns the revision that the replica is at.
func (r *Replica[V]) endLocked() Revision {
	if r.lagsLocked() {
		return r.at
	}
	return r.store.rev
}

// viewLocked returns the view of that revision. It can be taken late: what has
// changed since is in the past until it is trimmed, before which
// keepViewsLocked takes it.
func (r *Replica[V]) viewLocked() *View[V] {
	s := r.store
	if !r.lagsLocked() {
		return s.viewLocked(s.rev)
	}
	if r.view == nil {
		r.view = s.viewLocked(r.at)
	}
	return r.view
}

// boundLocked returns the last revision that the lag allows, time apart.
func (r *Replica[V]) boundLocked() Revision {
	bound := r.store.rev - Revision(max(r.lag.Revisions, 0))
	if r.lag.Until > 0 {
		bound = min(bound, r.lag.Until)
	}
	return bound
}

// nextLocked returns the first revision that the replica can move on to.
func (r *Replica[V]) nextLocked() Revision { return max(r.at+1, r.store.compacted) }

// advanceLocked moves the replica on as far as its lag allows.
func (r *Replica[V]) advanceLocked(now time.Time) {
	if !r.lagsLocked() {
		return
	}
	to, next := r.boundLocked(), r.nextLocked()
	if r.lag.By > 0 {
		bound, cutoff := to, now.Add(-r.lag.By)
		to = r.at
		r.store.log.entries.AscendGreaterOrEqual(logEntry[V]{rev: next}, func(e logEntry[V]) bool {
			if e.rev > bound || e.tx.Time.After(cutoff) {
				return false
			}
			to = e.rev
			return true
		})
	}
	if to >= next {
		r.moveLocked(to)
	}
}

func (r *Replica[V]) moveLocked(to Revision) {
	r.at, r.view = to, nil
	r.moved.call()
}

// keepViewsLocked takes, before history is trimmed, the views that cannot be
// taken after it.
func (s *Store[V]) keepViewsLocked() {
	for r := range s.lagging {
		if r.at < s.compacted {
			r.viewLocked()
		}
	}
}
