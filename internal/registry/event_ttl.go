package registry

import (
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// Events are deleted some time after their last write, as if etcd held a
// lease on each.
//
// Differs from kube-apiserver: expiry of Events: in kube-apiserver Events that
// are written shortly after another share its lease and live up to a minute
// longer. Here each Event expires on time. Request: GET of an Event an hour
// after its last write.

const defaultEventTTL = time.Hour

// An expiry is when one version of an object expires.
type expiry struct {
	at  time.Time
	typ *resource.Type
	key string
	rev mvcc.Revision // of the version
}

// expiries are the pending expiries in the order of their times: all objects have
// the same TTL.
type expiries struct {
	mu     sync.Mutex // guards the fields below
	queue  []expiry
	timer  *clock.Timer // of the first expiry; nil without one
	paused bool         // in a fork, until Resume
	closed bool
}

// expireAfterTTL lets the objects that a transaction puts expire.
func (g *Registry) expireAfterTTL(t *resource.Type, events []mvcc.Event[*storage.Object]) {
	e := &g.expiries
	e.mu.Lock()
	defer e.mu.Unlock()
	at := g.clock.Now().Add(g.eventTTL)
	for _, event := range events {
		if event.Type == mvcc.Put {
			e.queue = append(e.queue, expiry{at, t, event.Item.Key, event.Revision()})
		}
	}
	g.startExpiryTimerLocked()
}

// ExpireSince lets the objects expire that were written after a revision.
func (g *Registry) ExpireSince(rev mvcc.Revision) {
	e := &g.expiries
	e.mu.Lock()
	defer e.mu.Unlock()
	at := g.clock.Now().Add(g.eventTTL)
	for t := range g.follower.Surface().All() {
		if t.Virtual() || !t.HasTTL || t.Stored != t.GroupVersion {
			continue
		}
		for o := range g.store.All(t.Prefix) {
			if o.Revision > rev {
				e.queue = append(e.queue, expiry{at, t, t.Key(o.Namespace, o.Name), o.Revision})
			}
		}
	}
	g.startExpiryTimerLocked()
}

func (g *Registry) startExpiryTimerLocked() {
	e := &g.expiries
	if len(e.queue) > 0 && e.timer == nil && !e.paused && !e.closed {
		e.timer = g.clock.AfterFunc(e.queue[0].at.Sub(g.clock.Now()), g.expire)
	}
}

// expire deletes, in one transaction, the objects that have expired and were not
// written since.
func (g *Registry) expire() {
	due := g.takeExpired()
	if len(due) == 0 {
		return
	}
	err := g.internal("expire", Request{Type: due[0].typ, UserAgent: ServerAgent}).commit(func(tx storage.Txn) error {
		for _, d := range due {
			if item, ok := tx.Get(d.key); ok && item.Modified == d.rev {
				tx.Delete(d.key)
			}
		}
		return nil
	})
	if err != nil {
		panic("registry: expiry: " + err.Error()) // unreachable: no step of it fails
	}
}

// takeExpired removes the expiries that are due from the queue, and starts the
// timer for the rest.
func (g *Registry) takeExpired() (due []expiry) {
	e := &g.expiries
	e.mu.Lock()
	defer e.mu.Unlock()
	now, n := g.clock.Now(), 0
	for n < len(e.queue) && !e.queue[n].at.After(now) {
		n++
	}
	due, e.queue, e.timer = e.queue[:n], e.queue[n:], nil
	g.startExpiryTimerLocked()
	return due
}

// CopyExpiries lets the objects of a fork expire like those of its parent, after Resume.
func (g *Registry) CopyExpiries(parent *Registry) {
	parent.expiries.mu.Lock()
	queue := parent.expiries.queue[:len(parent.expiries.queue):len(parent.expiries.queue)]
	parent.expiries.mu.Unlock()
	g.expiries.mu.Lock()
	defer g.expiries.mu.Unlock()
	g.expiries.queue, g.expiries.paused = queue, true
}

// Resume starts what a fork does by itself, which is the expiry of objects. The Follower may be
// called from then on.
func (g *Registry) Resume() {
	g.expiries.mu.Lock()
	defer g.expiries.mu.Unlock()
	g.expiries.paused = false
	g.startExpiryTimerLocked()
}

func (e *expiries) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.timer != nil {
		e.timer.Stop()
	}
}
