package apiserver

import (
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// Events are gone some time after they were last written, as if etcd held a
// lease on each.
//
// Differs from kube-apiserver: its leases last up to a minute longer, because
// events that come shortly after another share one.

const defaultEventTTL = time.Hour

// An expiry is the end of one version of an object.
type expiry struct {
	at  time.Time
	typ *resource.Type
	key string
	rev mvcc.Revision // that the version is of
}

// expiries are the ends to come, in the order of their times: all objects have
// the same time to live.
type expiries struct {
	mu     sync.Mutex // guards the fields below
	queue  []expiry
	timer  *clock.Timer // of the first; nil if there is none
	closed bool
}

// lease has what a transaction puts expire.
func (s *Server) lease(t *resource.Type, tx *mvcc.Txn[*storage.Object]) {
	e := &s.expiries
	e.mu.Lock()
	defer e.mu.Unlock()
	at := s.clock.Now().Add(s.config.EventTTL)
	for _, event := range tx.Events() {
		if event.Type == mvcc.Put {
			e.queue = append(e.queue, expiry{at, t, event.Item.Key, tx.Revision()})
		}
	}
	s.awaitExpiryLocked()
}

// leaseSince has the objects expire that were written after a revision.
func (s *Server) leaseSince(rev mvcc.Revision) {
	e := &s.expiries
	e.mu.Lock()
	defer e.mu.Unlock()
	at := s.clock.Now().Add(s.config.EventTTL)
	for _, t := range s.Registry().Types() {
		if t.Virtual() || !t.Expires || t.Stored != t.GroupVersion {
			continue
		}
		for o := range s.store.All(t.Prefix) {
			if o.Revision > rev {
				e.queue = append(e.queue, expiry{at, t, t.Key(o.Namespace, o.Name), o.Revision})
			}
		}
	}
	s.awaitExpiryLocked()
}

func (s *Server) awaitExpiryLocked() {
	e := &s.expiries
	if len(e.queue) > 0 && e.timer == nil && !e.closed {
		e.timer = s.clock.AfterFunc(e.queue[0].at.Sub(s.clock.Now()), s.expire)
	}
}

// expire deletes, in one transaction, what has expired and not been written
// since.
func (s *Server) expire() {
	due := s.takeExpired()
	if len(due) == 0 {
		return
	}
	err := s.internalRequest(due[0].typ, "expire").commit(func(tx *mvcc.Txn[*storage.Object]) error {
		for _, d := range due {
			if item, ok := tx.Get(d.key); ok && item.Modified == d.rev {
				tx.Delete(d.key)
			}
		}
		return nil
	})
	if err != nil {
		panic("apiserver: expiry: " + err.Error()) // unreachable: nothing in it fails
	}
}

// takeExpired takes from the queue what has expired, and waits for the rest.
func (s *Server) takeExpired() (due []expiry) {
	e := &s.expiries
	e.mu.Lock()
	defer e.mu.Unlock()
	now, n := s.clock.Now(), 0
	for n < len(e.queue) && !e.queue[n].at.After(now) {
		n++
	}
	due, e.queue, e.timer = e.queue[:n], e.queue[n:], nil
	s.awaitExpiryLocked()
	return due
}

// expireAs has the objects of a fork expire as those of its parent.
func (s *Server) expireAs(parent *Server) {
	parent.expiries.mu.Lock()
	queue := parent.expiries.queue[:len(parent.expiries.queue):len(parent.expiries.queue)]
	parent.expiries.mu.Unlock()
	s.expiries.mu.Lock()
	defer s.expiries.mu.Unlock()
	s.expiries.queue = queue
	s.awaitExpiryLocked()
}

func (e *expiries) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.timer != nil {
		e.timer.Stop()
	}
}
