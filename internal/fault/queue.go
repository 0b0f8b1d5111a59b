package fault

import (
	"bytes"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/kubefake/kubefake/fakeapi/faults"
)

// maxQueued is how many bytes of a slowed watch may wait in its queue. Beyond it
// the backend's Write blocks, as it does for a client that does not read.
const maxQueued = 16 << 20

// queued is an event in the queue.
type queued struct {
	event   []byte
	since   time.Time // when the backend wrote it
	then    func()    // called when it is sent; may be nil
	reached bool      // it has reached BeforeDelivery
}

// A Queue is implemented by the ResponseWriter of a watch. It lets the backend
// learn when events are sent.
type Queue interface {
	// Queues reports whether events written now may wait in a queue.
	Queues() bool
	// WhenSent calls f when everything written so far is sent: at once if it
	// already is, never if the watch ends before. Of several calls for the same
	// event only the last f is called.
	WhenSent(f func())
	// OnSent calls f after each event that has waited in the queue is sent.
	OnSent(f func())
	// Idle reports whether no event is sent at the moment, and none in the queue is
	// due.
	Idle() bool
}

var _ Queue = (*stream)(nil)

// startsQueue reports whether events go through the queue, and starts the sender if it
// is the first one.
func (st *stream) startsQueue() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.sender == nil && slices.ContainsFunc(st.effects, (*effect).delays) {
		st.sender = make(chan struct{})
		go st.sendQueue()
	}
	return st.sender != nil
}

// Idle implements [Queue].
func (st *stream) Idle() bool {
	if !st.slowed.Load() {
		return true
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	return !st.sending && (len(st.queue) == 0 || st.waitLocked(st.queue[0].since, st.set.options.Clock.Now()) > 0)
}

// Queues implements [Queue]. It is called for each event of each watch, with or
// without faults, so it takes no lock.
func (st *stream) Queues() bool { return st.slowed.Load() }

// WhenSent implements [Queue].
func (st *stream) WhenSent(f func()) {
	st.mu.Lock()
	if n := len(st.queue); n > 0 {
		st.queue[n-1].then = f
		st.mu.Unlock()
		return
	}
	st.mu.Unlock()
	f()
}

// OnSent implements [Queue].
func (st *stream) OnSent(f func()) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.onSent = f
}

// enqueue appends a copy of an event to the queue. It waits while the queue is
// full.
func (st *stream) enqueue(event []byte, reached bool) error {
	since := st.set.options.Clock.Now()
	for {
		st.mu.Lock()
		if st.end != "" {
			st.mu.Unlock()
			return ErrEnded
		}
		if st.size < maxQueued {
			st.queue = append(st.queue, queued{event: bytes.Clone(event), since: since, reached: reached})
			st.size += len(event)
			st.changedLocked()
			st.mu.Unlock()
			return nil
		}
		change := st.changeLocked()
		st.mu.Unlock()
		select {
		case <-change:
		case <-st.gone:
			return ErrEnded
		case <-st.set.options.Context.Done():
			return ErrEnded
		}
	}
}

// sendQueue is the sender: it writes each event when it is due, until the queue is
// complete and empty, a fault ends the watch, or the client is gone.
func (st *stream) sendQueue() {
	defer close(st.sender)
	defer st.cancel(nil) // stops the backend
	for {
		next, wait, change := st.next()
		switch {
		case next.event != nil:
			if !next.reached {
				if st.reach(faults.BeforeDelivery, next.event) != nil {
					return
				}
				if next.reached = true; st.putBack(next) {
					continue
				}
			}
			if next.then != nil {
				next.then()
			}
			if st.deliver(next.event) != nil || http.NewResponseController(st.ResponseWriter).Flush() != nil {
				return
			}
			st.noteSent()
			continue
		case change == nil:
			return
		}
		timer := st.set.options.Clock.After(wait)
		select {
		case <-timer.C:
		case <-change:
		case <-st.gone:
			return
		case <-st.set.options.Context.Done():
			return
		}
		timer.Stop()
	}
}

// noteSent calls the function of OnSent.
func (st *stream) noteSent() {
	st.mu.Lock()
	f := st.onSent
	st.mu.Unlock()
	if f != nil {
		f()
	}
}

// next removes the first event from the queue if it is due, and returns it.
// Otherwise it returns how long to wait, unless change is closed before. A nil
// change means that nothing more is to be sent.
func (st *stream) next() (first queued, wait time.Duration, change <-chan struct{}) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.sending = false
	if st.end != "" || st.over && len(st.queue) == 0 {
		return queued{}, 0, nil
	}
	if len(st.queue) == 0 {
		return queued{}, forever, st.changeLocked()
	}
	now := st.set.options.Clock.Now()
	if wait := st.waitLocked(st.queue[0].since, now); wait > 0 {
		return queued{}, wait, st.changeLocked()
	}
	first = st.queue[0]
	st.queue = st.queue[1:]
	st.size -= len(first.event)
	st.sending, st.sent = true, now
	st.changedLocked()
	return first, 0, nil
}

// putBack puts an event back to the front of the queue if a fault has paused the watch
// since next. It reports whether it did.
func (st *stream) putBack(q queued) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.end != "" || !slices.ContainsFunc(st.effects, (*effect).pauses) {
		return false
	}
	st.queue = slices.Insert(st.queue, 0, q)
	st.size += len(q.event)
	return true
}

// forever is the wait for an event that has no due time.
const forever = time.Duration(math.MaxInt64)

// waitLocked returns how long an event written at since still waits: the maximum
// over all effects.
func (st *stream) waitLocked(since, now time.Time) time.Duration {
	longest := time.Duration(0)
	for _, e := range st.effects {
		f := &e.rule.fault
		if !e.delays() || e.rule.expired() {
			continue
		}
		wait := since.Add(f.EventDelay).Sub(now)
		if f.EventRate > 0 && !st.sent.IsZero() {
			interval := time.Duration(float64(time.Second) / f.EventRate)
			wait = max(wait, st.sent.Add(interval).Sub(now))
		}
		if e.hold || f.Watch == faults.PauseWatch {
			wait = forever
		}
		if !e.rule.until.IsZero() {
			wait = min(wait, e.rule.until.Sub(now))
		}
		longest = max(longest, wait)
	}
	return longest
}
