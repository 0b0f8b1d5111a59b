package fault

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/status"
)

// inFlight is how many bytes of a watch that is slowed may be on their way.
// Beyond it who sends them waits, as for a client that does not read.
const inFlight = 16 << 20

// initialEnd is the annotation of the bookmark that ends the initial events. It
// is a promise, not a hint: no client gets on without it.
const initialEnd = "k8s.io/initial-events-end"

// A stream is the answer to a watch on its way to the client. It passes whole
// events on, and only those.
//
// Who serves the watch writes to it, and to the client, as long as nothing is
// slow. From the first event on that is to wait, a goroutine of the stream's own
// writes to the client, when the time of each event has come; who serves it
// writes to a queue.
type stream struct {
	http.ResponseWriter
	set     *Set
	request Request
	number  int             // in the order in which watches were opened
	gone    <-chan struct{} // closed when the client is
	cancel  context.CancelCauseFunc

	// Of who serves the watch:
	begun   bool
	events  bool // the answer is one of events
	format  codec.Format
	partial []byte // the beginning of an event

	slowed atomic.Bool // by a fault, now or before

	mu      sync.Mutex    // guards the fields below
	change  chan struct{} // closed and replaced when one of them changes
	effects []*effect     // in the order of their injection
	end     *Rule         // that ends it; nil if none does
	queue   []queued      // nil until something is slow
	size    int           // bytes of it
	sent    time.Time     // when the last event of the queue went out
	over    bool          // nothing will be added to the queue
	done    bool          // it is too late for any effect
	sender  chan struct{} // closed when the goroutine has ended; nil for none
}

// An effect is what a rule does to one stream.
type effect struct {
	rule *Rule
	left int  // events that pass before it ends the stream
	hit  bool // it has been counted
}

// queued is an event that waits.
type queued struct {
	event []byte
	since time.Time
	then  func() // to be called when it is sent; may be nil
}

// A Queue is a writer of events that may have to wait, as a watch has it that
// meets the faults.
type Queue interface {
	// Queues reports whether an event that is written now may have to wait.
	Queues() bool
	// WhenSent calls f when everything that has been written is on its way: at
	// once if it is, and not if it never will be. Of several calls while the
	// same event waits the last one counts.
	WhenSent(f func())
}

var _ Queue = (*stream)(nil)

// ErrEnded is the cause by which the context of who serves a watch ends, and what
// its writes fail with, when a fault ends the watch.
var ErrEnded = errors.New("a fault ended the watch")

// watch lets the backend answer a watch.
func (s *Set) watch(w http.ResponseWriter, r *Request, b Backend) {
	ctx, cancel := context.WithCancelCause(r.HTTP.Context())
	defer cancel(nil)
	st := &stream{ResponseWriter: w, set: s, request: *r, gone: r.HTTP.Context().Done(), cancel: cancel}
	defer st.close()
	st.serve(b, r.HTTP.WithContext(ctx))
	st.drain()
}

// serve lets the backend answer. One that has been told to stop may give up, as
// proxies do.
func (st *stream) serve(b Backend, r *http.Request) {
	defer func() {
		if p := recover(); p != nil && !(p == http.ErrAbortHandler && st.ended()) {
			panic(p)
		}
	}()
	b.Serve(st, r)
}

// WriteHeader begins the answer. Only a success is a watch.
func (st *stream) WriteHeader(code int) {
	if !st.begun && code >= http.StatusOK {
		st.begun = true
		st.format, st.events = codec.StreamFormat(st.Header().Get("Content-Type"))
		st.events = st.events && code == http.StatusOK
	}
	st.ResponseWriter.WriteHeader(code)
	if st.events && st.number == 0 {
		st.set.open(st)
	}
}

// Write passes on the events that end in p.
func (st *stream) Write(p []byte) (int, error) {
	if !st.begun {
		st.WriteHeader(http.StatusOK)
	}
	if !st.events {
		return st.ResponseWriter.Write(p)
	}
	b := p
	if len(st.partial) > 0 {
		st.partial = append(st.partial, p...)
		b = st.partial
	}
	whole := st.format.WholeEvents(b)
	err := st.send(b[:whole])
	if st.partial = append(st.partial[:0], b[whole:]...); len(st.partial) == 0 {
		st.partial = nil
	}
	return len(p), err
}

// FlushError serves [http.ResponseController].
func (st *stream) FlushError() error {
	st.mu.Lock()
	queueing := st.sender != nil
	st.mu.Unlock()
	if queueing {
		return nil // who sends the queue flushes
	}
	return http.NewResponseController(st.ResponseWriter).Flush()
}

// Unwrap serves [http.ResponseController].
func (st *stream) Unwrap() http.ResponseWriter { return st.ResponseWriter }

// send passes on whole events.
func (st *stream) send(events []byte) error {
	st.mu.Lock()
	ended, plain := st.end != nil, st.effects == nil && st.sender == nil
	st.mu.Unlock()
	switch {
	case ended:
		return ErrEnded
	case plain && len(events) > 0:
		_, err := st.ResponseWriter.Write(events)
		return err
	}
	for len(events) > 0 {
		n := st.format.NextEvent(events)
		if err := st.sendOne(events[:n]); err != nil {
			return err
		}
		events = events[n:]
	}
	return nil
}

// sendOne passes on an event, now or later, or withholds it.
func (st *stream) sendOne(event []byte) error {
	if st.withholds(event) {
		return nil
	}
	st.mu.Lock()
	queueing := st.queuesLocked()
	if queueing && st.sender == nil {
		st.sender = make(chan struct{})
		go st.sendQueue()
	}
	st.mu.Unlock()
	if queueing {
		return st.enqueue(event)
	}
	return st.deliver(event)
}

func (st *stream) queuesLocked() bool {
	return st.sender != nil || slices.ContainsFunc(st.effects, func(e *effect) bool { return e.rule.fault.slows() })
}

// Queues implements [Queue]. It is asked for each event of each watch, whether or
// not there is any fault.
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

// withholds reports whether an event is a bookmark that a fault withholds.
func (st *stream) withholds(event []byte) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, e := range st.effects {
		if e.rule.fault.WithholdBookmarks && !e.rule.over() &&
			st.format.EventType(event) == "BOOKMARK" && !bytes.Contains(event, []byte(initialEnd)) {
			st.hitLocked(e)
			return true
		}
	}
	return false
}

// deliver writes an event to the client. It may be the last one.
func (st *stream) deliver(event []byte) error {
	if _, err := st.ResponseWriter.Write(event); err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.end != nil {
		return ErrEnded
	}
	if st.effects == nil || st.format.EventType(event) == "BOOKMARK" {
		return nil
	}
	for _, e := range st.effects {
		if !e.rule.fault.ends() || e.rule.over() {
			continue
		}
		if e.left--; e.left <= 0 {
			st.endLocked(e)
			return ErrEnded
		}
	}
	return nil
}

// enqueue adds a copy of an event to the queue, and waits while that is full.
func (st *stream) enqueue(event []byte) error {
	since := st.set.options.Clock.Now()
	for {
		st.mu.Lock()
		if st.end != nil {
			st.mu.Unlock()
			return ErrEnded
		}
		if st.size < inFlight {
			st.queue = append(st.queue, queued{event: bytes.Clone(event), since: since})
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
		case <-st.set.options.Done:
			return ErrEnded
		}
	}
}

// sendQueue writes the events of the queue as their time comes, until none will
// be added or nobody is there for them.
func (st *stream) sendQueue() {
	defer close(st.sender)
	defer st.cancel(nil) // who serves the watch need not go on
	for {
		event, then, wait, change := st.next()
		switch {
		case event != nil:
			if then != nil {
				then()
			}
			if st.deliver(event) != nil || http.NewResponseController(st.ResponseWriter).Flush() != nil {
				return
			}
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
		case <-st.set.options.Done:
			return
		}
		timer.Stop()
	}
}

// next takes the first event from the queue if its time has come, and what is to
// be called then. If not, it tells how long to wait for that, or for a change; a
// nil change is the end.
func (st *stream) next() (event []byte, then func(), wait time.Duration, change <-chan struct{}) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.end != nil || st.over && len(st.queue) == 0 {
		return nil, nil, 0, nil
	}
	if len(st.queue) == 0 {
		return nil, nil, forever, st.changeLocked()
	}
	now := st.set.options.Clock.Now()
	if wait := st.waitLocked(st.queue[0].since, now); wait > 0 {
		return nil, nil, wait, st.changeLocked()
	}
	event, then = st.queue[0].event, st.queue[0].then
	st.queue = st.queue[1:]
	st.size -= len(event)
	st.sent = now
	st.changedLocked()
	return event, then, 0, nil
}

// forever is longer than anybody waits.
const forever = time.Duration(math.MaxInt64)

// waitLocked is how long an event has to wait yet that is there since a time:
// the slowest effect counts.
func (st *stream) waitLocked(since, now time.Time) time.Duration {
	longest := time.Duration(0)
	for _, e := range st.effects {
		f := &e.rule.fault
		if !f.slows() || e.rule.over() {
			continue
		}
		wait := since.Add(f.EventDelay).Sub(now)
		if f.EventRate > 0 && !st.sent.IsZero() {
			pace := time.Duration(float64(time.Second) / f.EventRate)
			wait = max(wait, st.sent.Add(pace).Sub(now))
		}
		if f.Watch == Pause {
			wait = forever
		}
		if !e.rule.until.IsZero() {
			wait = min(wait, e.rule.until.Sub(now))
		}
		longest = max(longest, wait)
	}
	return longest
}

// attach makes a rule have its effect from now on.
func (st *stream) attach(r *Rule) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.end != nil || st.done {
		return
	}
	e := &effect{rule: r, left: r.fault.Events}
	switch {
	case r.fault.ends() && e.left == 0:
		st.endLocked(e)
		return
	case r.fault.slows():
		st.hitLocked(e)
		st.slowed.Store(true)
	}
	st.effects = append(st.effects, e)
	st.changedLocked()
}

// detach ends the effect of a rule.
func (st *stream) detach(r *Rule) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.effects = slices.DeleteFunc(st.effects, func(e *effect) bool { return e.rule == r })
	if len(st.effects) == 0 {
		st.effects = nil
	}
	st.changedLocked()
}

// endLocked has the watch end: who serves it is told to stop.
func (st *stream) endLocked(e *effect) {
	st.hitLocked(e)
	st.end = e.rule
	st.queue = nil
	st.changedLocked()
	st.cancel(ErrEnded)
}

// ended reports whether a fault has ended the watch.
func (st *stream) ended() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.end != nil
}

// hitLocked counts that an effect takes place.
func (st *stream) hitLocked(e *effect) {
	if !e.hit {
		e.hit = true
		e.rule.hit(&st.request)
	}
}

// changeLocked is closed at the next change.
func (st *stream) changeLocked() <-chan struct{} {
	if st.change == nil {
		st.change = make(chan struct{})
	}
	return st.change
}

func (st *stream) changedLocked() {
	if st.change != nil {
		close(st.change)
		st.change = nil
	}
}

// drain waits until the queue is sent, once the watch is served, and ends the
// answer as the fault has it that ended the watch.
func (st *stream) drain() {
	st.stop()
	st.mu.Lock()
	end := st.end
	st.done = true
	st.mu.Unlock()
	switch {
	case end == nil:
		if len(st.partial) > 0 {
			st.ResponseWriter.Write(st.partial)
		}
	case end.fault.Watch == Reset:
		reset(st.ResponseWriter)
	case end.fault.Watch == Expire:
		expired := status.Expired("The resourceVersion for the provided watch is too old.")
		st.ResponseWriter.Write(st.format.AppendError(nil, expired.JSON()))
	}
}

// close lets go of what the stream holds, however its service has ended.
func (st *stream) close() {
	if st.number > 0 {
		st.set.closed(st)
	}
	st.mu.Lock()
	st.queue = nil
	st.mu.Unlock()
	st.stop()
}

// stop says that nothing will be added to the queue and waits for the goroutine
// that sends it.
func (st *stream) stop() {
	st.mu.Lock()
	st.over = true
	st.changedLocked()
	sender := st.sender
	st.mu.Unlock()
	if sender != nil {
		<-sender
	}
}
