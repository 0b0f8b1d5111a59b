package storage

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/mvcc"
)

// What kube-apiserver answers from its watch caches, here a replica of the
// store answers, one a resource. Unless it is told to lag it is at the present.

// lags are the replicas of a store and what moves them with the clock.
type lags struct {
	store *mvcc.Store[*Object]
	clock *clock.Clock

	// some tells that there may be replicas that lag. It is set before one
	// does, so that whoever finds it unset after taking a view of the present
	// has seen nothing newer than a replica will show.
	some atomic.Bool

	mu     sync.Mutex             // guards the fields below
	all    *mvcc.Replica[*Object] // where a replica begins that is not there yet
	of     map[string]*replica    // by the prefix of the resource
	closed bool
}

// A replica is what the watch cache of a resource shows.
type replica struct {
	*mvcc.Replica[*Object]
	due *clock.Timer // when it is to move on; nil if nobody has to see to that
}

func newLags(s *mvcc.Store[*Object], c *clock.Clock) lags {
	return lags{store: s, clock: c, all: s.Replica(), of: map[string]*replica{}}
}

// cached is what the watch cache of t shows.
func (s *Store) cached(t *resource.Type) *mvcc.View[*Object] {
	view := s.newest()
	if !s.lags.some.Load() {
		return view
	}
	return s.replica(t).View()
}

// CachedRevision is the revision that the watch cache of t has come to, or with
// nil the one that is ahead of all.
func (s *Store) CachedRevision(t *resource.Type) mvcc.Revision {
	if t != nil {
		return s.replica(t).Revision()
	}
	l := &s.lags
	l.mu.Lock()
	defer l.mu.Unlock()
	newest := l.all.Revision()
	for _, r := range l.of {
		newest = max(newest, r.Revision())
	}
	return newest
}

// replica is what reads from the watch cache of t, and its watches, see. What
// has no watch cache never lags.
func (s *Store) replica(t *resource.Type) *mvcc.Replica[*Object] {
	if t.Uncached {
		return s.Replica()
	}
	return s.lags.replica(t).Replica
}

func (l *lags) replica(t *resource.Type) *replica {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of[t.Prefix]
	if r == nil {
		r = &replica{Replica: l.all.Fork(l.store)}
		l.of[t.Prefix] = r
		l.awaitLocked(r)
	}
	if t.Since > 0 {
		r.Skip(mvcc.Revision(t.Since)) // the cache of a custom resource begins with that
	}
	return r
}

// ErrUncached is returned for what cannot lag.
var ErrUncached = errors.New("kube-apiserver reads it from etcd, not from a watch cache")

// SetLag has the watch cache of t lag, or with nil all watch caches, instead of
// as they did before. No lag is the zero value. What a cache has shown it goes
// on showing until it may show what is newer.
//
// It fails if the lag is longer than history is kept, and with ErrUncached.
func (s *Store) SetLag(t *resource.Type, lag mvcc.Lag) error {
	switch {
	case t != nil && t.Uncached:
		return fmt.Errorf("%s cannot lag: %w", t.Name, ErrUncached)
	case s.keep > 0 && lag.By > s.keep:
		return fmt.Errorf("a lag of %v is longer than history is kept, which is %v", lag.By, s.keep)
	}
	l := &s.lags
	if t != nil {
		l.replica(t)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.some.Store(true)
	if t != nil {
		l.setLocked(l.of[t.Prefix], lag)
	} else {
		l.all.SetLag(lag)
		for _, r := range l.of {
			l.setLocked(r, lag)
		}
	}
	l.some.Store(l.someLocked())
	return nil
}

func (l *lags) setLocked(r *replica, lag mvcc.Lag) {
	r.SetLag(lag)
	if r.due != nil {
		r.due.Stop()
		r.due = nil
	}
	l.awaitLocked(r)
}

// A Lagging is a resource whose watch cache lags.
type Lagging struct {
	Prefix   string // of its keys; "" for all resources that have no entry of their own
	Lag      mvcc.Lag
	Revision mvcc.Revision // what the cache has come to
}

// Lags tells what lags, in the order of the prefixes, and what does not where
// all else does.
func (s *Store) Lags() []Lagging {
	l := &s.lags
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all.Advance()
	all := Lagging{"", l.all.Lag(), l.all.Revision()}
	out := []Lagging{}
	if all.Lag != (mvcc.Lag{}) {
		out = append(out, all)
	}
	for _, prefix := range slices.Sorted(maps.Keys(l.of)) {
		one := Lagging{prefix, l.of[prefix].Lag(), l.of[prefix].Revision()}
		if one.Lag != all.Lag {
			out = append(out, one)
		}
	}
	return out
}

func (l *lags) someLocked() bool {
	some := l.all.Lag() != mvcc.Lag{}
	for _, r := range l.of {
		some = some || r.Lag() != mvcc.Lag{}
	}
	return some
}

// LagAs has everything lag as in another store, of which this one is a fork,
// and be where it is there.
func (s *Store) LagAs(parent *Store) {
	if !parent.lags.some.Load() {
		return
	}
	from, l := &parent.lags, &s.lags
	from.mu.Lock()
	defer from.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.some.Store(true)
	l.all = from.all.Fork(l.store)
	for prefix, r := range from.of {
		l.of[prefix] = &replica{Replica: r.Fork(l.store)}
		l.awaitLocked(l.of[prefix])
	}
}

// await has the clock move the replicas on, as far as they wait for it.
func (l *lags) await() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.of {
		l.awaitLocked(r)
	}
}

// awaitLocked has one timer wait for the next move of a replica.
func (l *lags) awaitLocked(r *replica) {
	if r.due != nil || l.closed {
		return
	}
	at, ok := r.Due()
	if !ok {
		return
	}
	var timer *clock.Timer
	timer = l.clock.AfterFunc(at.Sub(l.clock.Now()), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if r.due != timer {
			return // it has another lag by now
		}
		r.due = nil
		r.Advance()
		l.awaitLocked(r)
	})
	r.due = timer
}

func (l *lags) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, r := range l.of {
		if r.due != nil {
			r.due.Stop()
		}
	}
}
