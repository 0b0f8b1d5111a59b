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
}

// NewStore returns an empty store that keeps its history for keep.
func NewStore(c *clock.Clock, keep time.Duration) *Store {
	return &Store{Store: mvcc.New[*Object](mvcc.Options{Now: c.Now, KeepFor: keep}), clock: c, keep: keep}
}

// Fork returns a store of the same state and history, apart from now on.
func (s *Store) Fork(c *clock.Clock) *Store {
	out := &Store{Store: s.Store.Fork(mvcc.Options{Now: c.Now, KeepFor: s.keep}), clock: c, keep: s.keep}
	out.compacted.Store(s.compacted.Load())
	return out
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
	if err := s.notOlderThan(ctx, t, version); err != nil {
		return nil, 0, err
	}
	o, rev := s.newest(t.Key(namespace, name))
	return o, rev, nil
}

// Newest returns the object at a key as it is now, nil if there is none.
func (s *Store) Newest(key string) *Object {
	o, _ := s.newest(key)
	return o
}

// newest is Newest and the revision of the state that the object is of.
func (s *Store) newest(key string) (*Object, mvcc.Revision) {
	view, err := s.View(0)
	if err != nil {
		panic("storage: no newest view: " + err.Error()) // unreachable: revision 0 always exists
	}
	item, ok := view.Get(key)
	if !ok {
		return nil, view.Revision()
	}
	return item.Value, view.Revision()
}

// All are the objects whose keys begin with the prefix as they are now, in the
// order of their keys.
func (s *Store) All(prefix string) iter.Seq[*Object] {
	view, err := s.View(0)
	if err != nil {
		panic("storage: no newest view: " + err.Error()) // unreachable: revision 0 always exists
	}
	return func(yield func(*Object) bool) {
		for item := range view.Range(prefix, mvcc.PrefixEnd(prefix)) {
			if !yield(item.Value) {
				return
			}
		}
	}
}

// notOlderThan waits until the store has reached version: an uncached resource
// fails at once, a cached one after freshnessWait.
func (s *Store) notOlderThan(ctx context.Context, t *resource.Type, version string) error {
	if version == "" {
		return nil
	}
	rev, err := ParseVersion(version)
	if err != nil {
		return &VersionError{Value: version, Err: err}
	}
	return s.reach(ctx, t, rev)
}

func (s *Store) reach(ctx context.Context, t *resource.Type, rev uint64) error {
	if rev <= uint64(s.Revision()) {
		return nil
	}
	if t.Uncached {
		return &TooLargeError{Requested: rev, Current: s.Revision()}
	}
	timeout := s.clock.After(freshnessWait)
	defer timeout.Stop()
	w, err := s.Store.Watch("", 0)
	if err != nil {
		panic("storage: no watch from now: " + err.Error()) // unreachable: now is never compacted
	}
	defer w.Close()
	for rev > uint64(s.Revision()) {
		if _, err := w.Poll(1); err != nil {
			return &ExpiredError{}
		}
		select {
		case <-w.Wait():
		case <-timeout.C:
			return &TooLargeError{Requested: rev, Current: s.Revision(), Waited: true}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
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
