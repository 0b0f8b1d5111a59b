package fault

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
)

// A stream is the ResponseWriter of a watch. It sends whole events to the client.
//
// The backend's goroutine writes to the client directly until the first event has
// to wait. From then on it appends events to a queue, and a second goroutine, the
// sender, writes each of them to the client when it is due.
type stream struct {
	http.ResponseWriter
	set     *Set
	request Request
	number  int             // position in the order of opened watches, from 1; 0 before
	gone    <-chan struct{} // closed when the client is gone
	cancel  context.CancelCauseFunc

	// The backend's goroutine owns these fields:
	begun   bool // the header is written
	events  bool // the response consists of events
	format  codec.Format
	partial []byte // incomplete event at the end of the last Write

	slowed atomic.Bool // a fault delays events, or has delayed some

	mu      sync.Mutex         // guards the fields below
	change  chan struct{}      // closed at the next change of them; nil if nobody waits
	effects []*effect          // in the order of their injection
	end     faults.WatchEffect // how a fault has ended the watch; "" if none has
	queue   []queued           // events for the sender
	size    int                // bytes in queue
	sending bool               // the sender has taken an event and not yet sent it
	sent    time.Time          // when the sender took the last event
	onSent  func()             // called when the sender has sent an event; may be nil
	over    bool               // the backend writes nothing more
	done    bool               // the response is complete: effects come too late
	sender  chan struct{}      // closed when the sender returns; nil if there is none
}

// ErrEnded is the cause of the backend's context, and the error of its writes,
// after a fault has ended the watch.
var ErrEnded = errors.New("a fault ended the watch")

// watch lets the backend respond to a watch.
func (s *Set) watch(w http.ResponseWriter, r *Request, b Backend) {
	ctx, cancel := context.WithCancelCause(r.HTTP.Context())
	defer cancel(nil)
	st := &stream{ResponseWriter: w, set: s, request: *r, gone: r.HTTP.Context().Done(), cancel: cancel}
	defer st.close()
	st.serve(b, r.HTTP.WithContext(ctx))
	st.drain()
}

// serve calls the backend. A backend whose watch has ended may panic with
// http.ErrAbortHandler, as reverse proxies do.
func (st *stream) serve(b Backend, r *http.Request) {
	defer func() {
		if p := recover(); p != nil && !(p == http.ErrAbortHandler && st.ended()) {
			panic(p)
		}
	}()
	b.Serve(st, r)
}

// WriteHeader begins the response. A failure has no events.
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

// Write sends the events that are complete with p.
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

// FlushError is for [http.ResponseController].
func (st *stream) FlushError() error {
	st.mu.Lock()
	queueing := st.sender != nil
	st.mu.Unlock()
	if queueing {
		return nil // the sender flushes
	}
	return http.NewResponseController(st.ResponseWriter).Flush()
}

// Unwrap is for [http.ResponseController].
func (st *stream) Unwrap() http.ResponseWriter { return st.ResponseWriter }

// send sends or queues whole events.
func (st *stream) send(events []byte) error {
	st.mu.Lock()
	ended, plain := st.end != "", st.effects == nil && st.sender == nil
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

// sendOne sends, queues or withholds an event.
func (st *stream) sendOne(event []byte) error {
	if st.withholds(event) {
		return nil
	}
	if st.startsQueue() {
		return st.enqueue(event, false)
	}
	if err := st.reach(faults.BeforeDelivery, event); err != nil {
		return err
	}
	if st.startsQueue() { // a fault has begun to delay events meanwhile
		return st.enqueue(event, true)
	}
	return st.deliver(event)
}

// withholds reports whether an event is a bookmark that a fault withholds. No fault
// withholds the one that ends the initial events, because clients wait for it.
func (st *stream) withholds(event []byte) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, e := range st.effects {
		if e.rule.fault.WithholdBookmarks && !e.rule.expired() &&
			st.format.EventType(event) == "BOOKMARK" && !bytes.Contains(event, []byte(storage.InitialEventsEnd)) {
			st.hitLocked(e)
			return true
		}
	}
	return false
}

// deliver writes an event to the client. It returns ErrEnded if a fault ends the
// watch with this event.
func (st *stream) deliver(event []byte) error {
	if _, err := st.ResponseWriter.Write(event); err != nil {
		return err
	}
	if err := st.reach(faults.AfterDelivery, event); err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.effects == nil || st.format.EventType(event) == "BOOKMARK" {
		return nil
	}
	for _, e := range st.effects {
		if e.rule.fault.HitsEvents() || !e.rule.fault.EndsWatch() || e.rule.expired() {
			continue
		}
		if e.left--; e.left <= 0 {
			st.hitLocked(e)
			st.endLocked(e.rule.fault.Watch)
			return ErrEnded
		}
	}
	return nil
}

// reach lets the faults for single events hit an event that has reached a moment. It
// returns ErrEnded if the watch has ended then.
func (st *stream) reach(at faults.Moment, event []byte) error {
	st.mu.Lock()
	if st.end != "" {
		st.mu.Unlock()
		return ErrEnded
	}
	var rules []*Rule
	for _, e := range st.effects {
		if e.forEvents() && e.rule.fault.At == at && !e.rule.expired() {
			rules = append(rules, e.rule)
		}
	}
	st.mu.Unlock()
	if rules == nil {
		return nil
	}
	typ, object := st.format.IdentifyEvent(event)
	for _, r := range rules {
		if !r.matcher.delivery(typ, object) {
			continue
		}
		n, last := r.claim(st.request.identityOf(typ, object), st.ended())
		if last {
			st.set.retire(r)
		}
		if n > 0 {
			st.hitEvent(r, n, typ, object)
		}
	}
	if st.ended() {
		return ErrEnded
	}
	return nil
}

// hitEvent lets a fault for single events take effect. The events before are sent first.
func (st *stream) hitEvent(r *Rule, n int, typ string, object codec.Identity) {
	r.countRequest(&st.request)
	end := r.fault.Watch
	if http.NewResponseController(st.ResponseWriter).Flush() != nil {
		return // the client is gone
	}
	if r.fault.HasAction() {
		p := r.newPoint(&st.request, r.fault.At, n)
		p.Event, p.Watch, p.Name = typ, st.number, ""
		p.identify(object)
		p.hold = func() func() { return st.hold(r) }
		r.do(st.request.HTTP.Context(), p)
		if p.end != "" {
			end = p.end
		}
	}
	switch end {
	case "":
	case faults.PauseWatch:
		st.hold(r)
	default:
		st.mu.Lock()
		st.endLocked(end)
		st.mu.Unlock()
	}
}

// hold withholds all events until release is called, or the rule is removed.
func (st *stream) hold(r *Rule) (release func()) {
	e := &effect{rule: r, hit: true, hold: true}
	st.mu.Lock()
	defer st.mu.Unlock()
	if !r.isRemoved() && st.end == "" {
		st.effects = append(st.effects, e)
	}
	return func() { st.detachIf(func(other *effect) bool { return other == e }) }
}

// disconnect breaks the connection of a watch that has not ended. It reports whether it
// did.
func (st *stream) disconnect() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.end != "" || st.done {
		return false
	}
	st.endLocked(faults.ResetWatch)
	return true
}

// changeLocked returns a channel that is closed at the next change.
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

// drain waits until the queue is sent, after the backend has returned. Then it
// ends the response as the fault that ended the watch says, if there is one.
func (st *stream) drain() {
	st.stop()
	st.mu.Lock()
	end := st.end
	st.done = true
	st.mu.Unlock()
	switch {
	case end == "":
		if len(st.partial) > 0 {
			st.ResponseWriter.Write(st.partial)
		}
	case end == faults.ResetWatch:
		reset(st.ResponseWriter)
	case end == faults.ExpireWatch:
		st.ResponseWriter.Write(st.format.AppendError(nil, status.WatchExpired().JSON()))
	}
}

// close releases the stream, also after a panic of the backend.
func (st *stream) close() {
	if st.number > 0 {
		st.set.closed(st)
	}
	st.mu.Lock()
	st.queue = nil
	st.mu.Unlock()
	st.stop()
}

// stop marks the queue as complete and waits for the sender.
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
