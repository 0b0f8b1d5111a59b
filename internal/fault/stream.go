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

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
)

// maxQueued is how many bytes of a slowed watch may wait in its queue. Beyond it
// the backend's Write blocks, as it does for a client that does not read.
const maxQueued = 16 << 20

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

// An effect is what a rule does to one stream. That of a rule for single events
// withholds everything if it is a hold, and otherwise waits for the events.
type effect struct {
	rule *Rule
	left int  // events to pass before it ends the stream
	hit  bool // the hit is counted
	hold bool
}

// forEvents reports whether the effect is that of a rule for single events.
func (e *effect) forEvents() bool { return e.rule.fault.HitsEvents() && !e.hold }

// pauses reports whether the events of the stream wait until the rule is removed.
func (e *effect) pauses() bool {
	return (e.hold || !e.forEvents() && e.rule.fault.Watch == faults.PauseWatch) && !e.rule.expired()
}

// delays reports whether the events of the stream wait.
func (e *effect) delays() bool { return e.hold || !e.forEvents() && delaysEvents(&e.rule.fault) }

// delaysEvents reports whether a fault makes the events of a watch wait.
func delaysEvents(f *faults.Fault) bool {
	return f.Watch == faults.PauseWatch || f.EventDelay > 0 || f.EventRate > 0
}

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

// attach starts the effect of a rule.
func (st *stream) attach(r *Rule) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.end != "" || st.done {
		return
	}
	e := &effect{rule: r, left: r.fault.AfterEvents}
	switch {
	case e.forEvents():
		st.slowed.Store(true) // Do may hold an event
	case r.fault.EndsWatch() && e.left == 0:
		st.hitLocked(e)
		st.endLocked(r.fault.Watch)
		return
	case delaysEvents(&r.fault):
		st.hitLocked(e)
		st.slowed.Store(true)
	}
	st.effects = append(st.effects, e)
	st.changedLocked()
}

// detach ends the effect of a rule.
func (st *stream) detach(r *Rule) {
	st.detachIf(func(e *effect) bool { return e.rule == r })
}

func (st *stream) detachIf(match func(*effect) bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.effects = slices.DeleteFunc(st.effects, match)
	if len(st.effects) == 0 {
		st.effects = nil
	}
	st.changedLocked()
}

// endLocked ends the watch and stops the backend.
func (st *stream) endLocked(how faults.WatchEffect) {
	st.end = how
	st.queue = nil
	st.changedLocked()
	st.cancel(ErrEnded)
}

// ended reports whether a fault has ended the watch.
func (st *stream) ended() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.end != ""
}

// hitLocked counts the hit of an effect, once per stream.
func (st *stream) hitLocked(e *effect) {
	if !e.hit {
		e.hit = true
		e.rule.countRequest(&st.request)
	}
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
