package mvcc

import "time"

// A Lag is the delay of a [Replica]. If several fields are set, the one with the oldest
// revision applies. The zero value is no lag.
type Lag struct {
	// By, if positive, shows the state of that long ago.
	By time.Duration

	// Revisions, if positive, shows the state of that many revisions ago.
	Revisions int64

	// Until, if positive, is the last revision that is shown. A replica that is
	// past it does not move. If Until is negative, no replica moves.
	Until Revision
}

// A Replica shows a store with a delay. Without a lag it is at the store's newest
// revision. With a lag it is at an older one, and moves with the transactions of the
// store and, when [Replica.Advance] is called, with time. It never goes back when its
// lag changes, and it never moves past what its lag allows.
//
// Compaction does not affect a replica: it shows its revision until its lag allows one
// that is not compacted. Only then its watchers fail with [ErrCompacted]. If the lag is
// longer than the history that [Options] keep, the replica never moves. If KeepBytes is
// the reason, it moves when there are fewer transactions again.
//
// Its methods may be called concurrently. It needs no closing, but a replica with a lag
// adds a small cost to each transaction.
type Replica[V any] struct {
	store *Store[V]

	// Guarded by store.mu. The fields after lag are used only with a lag.
	lag    Lag
	at     Revision
	view   *View[V] // at revision at; nil if not needed yet
	pruned bool     // view is the result of View.prune
	moved  signal   // sent by each move
}

// Replica returns a replica without a lag.
func (s *Store[V]) Replica() *Replica[V] { return &Replica[V]{store: s} }

// Fork returns a replica of a store with the lag and the revision of r. The store must
// be that of r or a fork of it.
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
	if view.rev <= of.rev { // false if r has moved since the store was forked
		out.at, out.view = view.rev, view
	}
	of.addLaggingLocked(out)
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

// SetLag sets the lag. With a longer lag the replica stays where it is until the store
// is far enough ahead; with a shorter one it moves at once.
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
		r.moved.send()
		return
	}
	s.addLaggingLocked(r)
	r.advanceLocked(now)
}

func (s *Store[V]) addLaggingLocked(r *Replica[V]) {
	if s.lagging == nil {
		s.lagging = make(map[*Replica[V]]struct{})
	}
	s.lagging[r] = struct{}{}
}

// Skip moves the replica to a revision regardless of its lag, unless it is there
// already. If the revision is compacted, it moves to the compacted revision; if it is
// in the future, to the newest.
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

// Advance moves the replica as far as its lag allows now.
func (r *Replica[V]) Advance() {
	s := r.store
	now := s.opts.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireLocked(now)
	r.advanceLocked(now)
}

// Due returns when Advance will move the replica if no transaction comes before; false
// if time will not move it.
func (r *Replica[V]) Due() (time.Time, bool) {
	s := r.store
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireLocked(now)
	if r.lag.By <= 0 {
		return time.Time{}, false
	}
	var next logEntry[V]
	s.log.entries.AscendGreaterOrEqual(logEntry[V]{rev: r.firstTargetLocked()}, func(e logEntry[V]) bool {
		next = e
		return false
	})
	if next.tx == nil || next.rev > r.lastTargetLocked() {
		return time.Time{}, false
	}
	return next.tx.Time.Add(r.lag.By), true
}

// Revision returns the revision of the replica.
func (r *Replica[V]) Revision() Revision {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	return r.revisionLocked()
}

// View returns the view that the replica shows.
func (r *Replica[V]) View() *View[V] {
	_, view := r.state()
	return view
}

// Watch returns a watcher as [Store.Watch] does, which sees only events up to the
// replica's revision. If from is 0, it returns the events after that revision. A change
// of the lag applies to existing watchers too.
func (r *Replica[V]) Watch(prefix string, from Revision) (*Watcher[V], error) {
	return r.store.watch(r, prefix, from)
}

// Moved returns a channel that is closed when the replica moves, or may have moved.
func (r *Replica[V]) Moved() <-chan struct{} {
	s := r.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.lagsLocked() {
		return r.moved.wait()
	}
	return s.moved.wait()
}

// lagsLocked reports whether the replica has a lag. A nil replica has none.
func (r *Replica[V]) lagsLocked() bool { return r != nil && r.lag != (Lag{}) }

// revisionLocked returns the revision of the replica.
func (r *Replica[V]) revisionLocked() Revision {
	if r.lagsLocked() {
		return r.at
	}
	return r.store.rev
}

// viewLocked returns the view at the replica's revision. It can be taken after the
// replica has moved there, because past has the later changes until they are trimmed;
// takeReplicaViewsLocked runs before that.
func (r *Replica[V]) viewLocked() *View[V] {
	s := r.store
	if !r.lagsLocked() {
		return s.viewLocked(s.rev)
	}
	if r.view == nil {
		r.view, r.pruned = s.viewLocked(r.at), false
	}
	return r.view
}

// lastTargetLocked returns the last revision that the lag allows, regardless of time.
func (r *Replica[V]) lastTargetLocked() Revision {
	bound := r.store.rev - Revision(max(r.lag.Revisions, 0))
	if r.lag.Until > 0 {
		bound = min(bound, r.lag.Until)
	}
	return bound
}

// firstTargetLocked returns the first revision that the replica can move to.
func (r *Replica[V]) firstTargetLocked() Revision { return max(r.at+1, r.store.compacted) }

// advanceLocked moves the replica as far as its lag allows.
func (r *Replica[V]) advanceLocked(now time.Time) {
	if !r.lagsLocked() {
		return
	}
	to, next := r.lastTargetLocked(), r.firstTargetLocked()
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
	r.moved.send()
}

// takeReplicaViewsLocked takes the views of replicas at compacted revisions, before the
// history is trimmed. The views keep the versions that they show, and not the others.
func (s *Store[V]) takeReplicaViewsLocked() {
	for r := range s.lagging {
		if r.at < s.compacted && (r.view == nil || !r.pruned) {
			r.view, r.pruned = r.viewLocked().prune(), true
		}
	}
}
