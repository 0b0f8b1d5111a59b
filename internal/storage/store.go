package storage

import (
	"context"
	"iter"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/mvcc"
)

// freshnessWait is how long a read from the watch cache waits for a version
// that is not there yet.
const freshnessWait = 3 * time.Second

// A Store is the state of a server: its objects and their history. It is safe
// for concurrent use.
type Store struct {
	*mvcc.Store[*Object]
	clock *clock.Clock
	keep  time.Duration

	// compacted is the revision up to which a compaction of etcd alone has
	// gone: reads that kube-apiserver serves from etcd end there, while its
	// watch cache still holds what is older.
	compacted atomic.Int64

	lags lags
}

// NewStore returns an empty store that keeps its history for keep.
func NewStore(c *clock.Clock, keep time.Duration) *Store {
	return newStore(mvcc.New[*Object](mvcc.Options{Now: c.Now, KeepFor: keep}), c, keep)
}

func newStore(s *mvcc.Store[*Object], c *clock.Clock, keep time.Duration) *Store {
	return &Store{Store: s, clock: c, keep: keep, lags: newLags(s, c)}
}

// Fork returns a store of the same state and history, apart from now on, in
// which nothing lags.
func (s *Store) Fork(c *clock.Clock) *Store {
	out := newStore(s.Store.Fork(mvcc.Options{Now: c.Now, KeepFor: s.keep}), c, s.keep)
	out.compacted.Store(s.compacted.Load())
	return out
}

// Close stops the timers of what lags.
func (s *Store) Close() { s.lags.close() }

// Update is that of the mvcc store.
func (s *Store) Update(fn func(tx *mvcc.Txn[*Object]) error) (mvcc.Revision, error) {
	rev, err := s.Store.Update(fn)
	if s.lags.some.Load() {
		s.lags.await()
	}
	return rev, err
}

// CompactEtcd forgets every version older than rev where kube-apiserver reads
// from etcd: in uncached resources. Reads that its watch cache answers go on.
func (s *Store) CompactEtcd(rev mvcc.Revision) {
	for {
		old := s.compacted.Load()
		if int64(rev) <= old || s.compacted.CompareAndSwap(old, int64(rev)) {
			return
		}
	}
}

// oldest is the oldest version at which t can be read.
func (s *Store) oldest(t *resource.Type) mvcc.Revision {
	c := s.Compacted()
	if t.Uncached {
		c = max(c, mvcc.Revision(s.compacted.Load()))
	}
	return c
}

// Get returns an object, nil if there is none, and the revision of the state
// that it is of. version is the request's resourceVersion: the answer is not
// older.
//
// Errors: *VersionError, *TooLargeError, and the context's.
func (s *Store) Get(ctx context.Context, t *resource.Type, namespace, name, version string) (*Object, mvcc.Revision, error) {
	view, err := s.atLeast(ctx, t, version)
	if err != nil {
		return nil, 0, err
	}
	return find(view, t.Key(namespace, name)), view.Revision(), nil
}

// atLeast is what a read of t sees that is to be no older than version: without
// one the present.
func (s *Store) atLeast(ctx context.Context, t *resource.Type, version string) (*mvcc.View[*Object], error) {
	if version == "" {
		return s.newest(), nil
	}
	rev, err := ParseVersion(version)
	if err != nil {
		return nil, &VersionError{Value: version, Err: err}
	}
	view := s.cached(t)
	if rev <= uint64(view.Revision()) {
		return view, nil
	}
	return s.await(ctx, t, s.replica(t), rev)
}

// find is what is at a key in a view, nil if there is nothing.
func find(view *mvcc.View[*Object], key string) *Object {
	item, ok := view.Get(key)
	if !ok {
		return nil
	}
	return item.Value
}

// newest is the present state.
func (s *Store) newest() *mvcc.View[*Object] {
	view, err := s.View(0)
	if err != nil {
		panic("storage: no newest view: " + err.Error()) // unreachable: revision 0 always exists
	}
	return view
}

// Newest returns the object at a key as it is now, nil if there is none.
func (s *Store) Newest(key string) *Object { return find(s.newest(), key) }

// All are the objects whose keys begin with the prefix as they are now, in the
// order of their keys.
func (s *Store) All(prefix string) iter.Seq[*Object] {
	view := s.newest()
	return func(yield func(*Object) bool) {
		for item := range view.Range(prefix, mvcc.PrefixEnd(prefix)) {
			if !yield(item.Value) {
				return
			}
		}
	}
}

// await is what a replica shows once it has come to rev. An uncached resource
// fails at once, a cached one after freshnessWait.
func (s *Store) await(ctx context.Context, t *resource.Type, r *mvcc.Replica[*Object], rev uint64) (*mvcc.View[*Object], error) {
	timeout := s.clock.After(freshnessWait)
	defer timeout.Stop()
	for {
		moved, view := r.Moved(), r.View()
		if rev <= uint64(view.Revision()) {
			return view, nil
		}
		tooLarge := &TooLargeError{Requested: rev, Current: view.Revision(), Waited: !t.Uncached}
		if t.Uncached {
			return nil, tooLarge
		}
		select {
		case <-moved:
		case <-timeout.C:
			return nil, tooLarge
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ParseVersion reads a resourceVersion as kube-apiserver does: an unsigned
// number, "" being 0.
func ParseVersion(version string) (uint64, error) {
	if version == "" {
		return 0, nil
	}
	return strconv.ParseUint(version, 10, 64)
}

// FormatVersion is the resourceVersion of a revision.
func FormatVersion(rev mvcc.Revision) string { return strconv.FormatInt(int64(rev), 10) }
