package storage

import (
	"iter"
	"time"

	"github.com/kubefake/kubefake/mvcc"
)

// A Store reaches its mvcc store through the interfaces of this file. Go compiles a generic type again
// in each package whose types lead to it, and most packages lead to a Store: without the
// interfaces each of them would compile mvcc and its trees.

// A Txn is an [mvcc.Txn] of objects.
type Txn interface {
	Revision() mvcc.Revision
	Events() []mvcc.Event[*Object]
	Get(key string) (*mvcc.Item[*Object], bool)
	Range(from, to string) iter.Seq[*mvcc.Item[*Object]]
	Put(key string, o *Object)
	Delete(key string) bool
}

// A View is an [mvcc.View] of objects.
type View interface {
	Revision() mvcc.Revision
	Get(key string) (*mvcc.Item[*Object], bool)
	Range(from, to string) iter.Seq[*mvcc.Item[*Object]]
}

// A database is an [mvcc.Store] of objects.
type database interface {
	Compact(mvcc.Revision) error
	Compacted() mvcc.Revision
	Count(v View, from, to string) int
	CountAfter(v View, from, next, to string, n int) int
	Fork(mvcc.Options) database
	HistoryBytes() int64
	Latest(key string) (*mvcc.Item[*Object], bool, mvcc.Revision)
	LatestFew(prefix string) ([]*mvcc.Item[*Object], bool)
	LiveBytes() int64
	Load(mvcc.Revision, iter.Seq[*mvcc.Item[*Object]])
	Log(from mvcc.Revision) iter.Seq[*mvcc.Transaction[*Object]]
	Mark(prefix string) mvcc.Mark[*Object]
	Replica() replica
	Revision() mvcc.Revision
	RevisionAt(time.Time) mvcc.Revision
	Trim()
	Update(func(Txn) error) (mvcc.Revision, error)
	View(mvcc.Revision) (View, error)
	Watch(prefix string, from mvcc.Revision) (Watcher, error)
}

// A replica is an [mvcc.Replica] of objects.
type replica interface {
	Advance()
	Due() (time.Time, bool)
	Fork(of database) replica
	Lag() mvcc.Lag
	Moved() <-chan struct{}
	Revision() mvcc.Revision
	SetLag(mvcc.Lag)
	Skip(to mvcc.Revision)
	View() View
	Watch(prefix string, from mvcc.Revision) (Watcher, error)
}

// A Watcher is an [mvcc.Watcher] of objects.
type Watcher interface {
	Close()
	Peers() int
	Poll(limit int) ([]mvcc.Event[*Object], error)
	Polled() (mvcc.Revision, time.Time)
	Revision() mvcc.Revision
	Wait() <-chan struct{}
}

type mvccStore struct{ *mvcc.Store[*Object] }

func (s mvccStore) Count(v View, from, to string) int {
	return s.Store.Count(v.(*mvcc.View[*Object]), from, to)
}

func (s mvccStore) CountAfter(v View, from, next, to string, n int) int {
	return s.Store.CountAfter(v.(*mvcc.View[*Object]), from, next, to, n)
}

func (s mvccStore) Fork(opts mvcc.Options) database { return mvccStore{s.Store.Fork(opts)} }

func (s mvccStore) Replica() replica { return mvccReplica{s.Store.Replica()} }

func (s mvccStore) Update(fn func(Txn) error) (mvcc.Revision, error) {
	return s.Store.Update(func(tx *mvcc.Txn[*Object]) error { return fn(tx) })
}

func (s mvccStore) View(at mvcc.Revision) (View, error) {
	v, err := s.Store.View(at)
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (s mvccStore) Watch(prefix string, from mvcc.Revision) (Watcher, error) {
	return opened(s.Store.Watch(prefix, from))
}

// opened returns a watcher as a Watcher, nil if there is none.
func opened(w *mvcc.Watcher[*Object], err error) (Watcher, error) {
	if err != nil {
		return nil, err
	}
	return w, nil
}

type mvccReplica struct{ *mvcc.Replica[*Object] }

func (r mvccReplica) Fork(of database) replica {
	return mvccReplica{r.Replica.Fork(of.(mvccStore).Store)}
}

func (r mvccReplica) View() View { return r.Replica.View() }

func (r mvccReplica) Watch(prefix string, from mvcc.Revision) (Watcher, error) {
	return opened(r.Replica.Watch(prefix, from))
}
