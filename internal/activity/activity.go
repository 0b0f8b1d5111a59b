// Package activity knows what a server does for its clients at the moment: the calls
// that it serves, the watches that have events to send, and what it expects of clients
// that start or fail. A server without activity has settled.
package activity

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A Tracker has the activity of one server. Its zero value is ready to use. It is safe
// for concurrent use.
type Tracker struct {
	mu       sync.Mutex // guards the fields below, and those of its calls
	first    *Call      // of those in flight, the newest one
	watches  map[*Watch]struct{}
	last     time.Time // of the last beginning or end of a call, or event of a watch
	clients  bool      // there may be some
	expected expectations
}

// Expect notes that there may be a client: one has what it needs to connect.
func (t *Tracker) Expect() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clients = true
}

// A Call is a request that the server has to answer. It must not be copied.
type Call struct {
	request    *http.Request
	next, prev *Call
}

// Begin adds a call at a time of the wall clock. The caller must End it.
func (t *Tracker) Begin(c *Call, r *http.Request, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.request, c.next = r, t.first
	if c.next != nil {
		c.next.prev = c
	}
	t.first = c
	t.last, t.clients = now, true
}

// End removes a call at a time of the wall clock. Of a call that did not begin, and of one
// that has ended, it only notes the answer.
func (t *Tracker) End(c *Call, now time.Time, a Answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expected.note(a, now)
	switch {
	case c.request == nil:
		return
	case c.prev != nil:
		c.prev.next = c.next
	default:
		t.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	}
	*c = Call{}
	t.last = now
}

// InFlight returns the numbers of calls in flight that read and that write.
func (t *Tracker) InFlight() (reads, writes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := t.first; c != nil; c = c.next {
		if c.request.Method == http.MethodGet || c.request.Method == http.MethodHead {
			reads++
		} else {
			writes++
		}
	}
	return reads, writes
}

// A Watch is an open watch. It works, or it waits for events.
type Watch struct {
	tracker *Tracker
	request *http.Request
	idle    func() bool
	opened  time.Time
	working sync.Mutex // held while the watch works
}

// Open adds a watch, which works. idle reports, while the watch waits, whether there is
// no event that it has to send. The caller must Close the watch.
func (t *Tracker) Open(r *http.Request, idle func() bool) *Watch {
	w := &Watch{tracker: t, request: r, idle: idle, opened: time.Now()}
	w.working.Lock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watches == nil {
		t.watches = map[*Watch]struct{}{}
	}
	t.watches[w] = struct{}{}
	t.clients = true
	return w
}

// Close removes the watch.
func (w *Watch) Close() {
	w.tracker.mu.Lock()
	defer w.tracker.mu.Unlock()
	delete(w.tracker.watches, w)
}

// Wait marks the end of the watch's work. sent reports whether it has sent events.
func (w *Watch) Wait(sent bool) {
	if sent {
		w.Sent()
	}
	w.working.Unlock()
}

// Sent marks that an event which has waited is sent.
func (w *Watch) Sent() {
	now := time.Now()
	w.tracker.mu.Lock()
	defer w.tracker.mu.Unlock()
	w.tracker.last = now
}

// Work marks the end of the wait.
func (w *Watch) Work() { w.working.Lock() }

// isIdle reports whether the watch waits and has nothing to send.
func (w *Watch) isIdle() bool {
	if !w.working.TryLock() {
		return false
	}
	defer w.working.Unlock()
	return w.idle()
}

// A State is the activity of a server at one moment.
type State struct {
	// Busy describes the calls in flight and the watches with events to send.
	Busy []string
	// Clients reports whether there may be clients: something has connected, or has what
	// it needs to connect.
	Clients bool
	// Watches is the number of open watches.
	Watches int
	// Last is when a call began or ended, or a watch sent events, the last time. It is a
	// time of the wall clock.
	Last time.Time
	// Opened is when the newest of them was opened.
	Opened time.Time
	// Expected is when each request that clients are likely to make has been made, and
	// Awaited describes those that have not been made yet.
	Expected time.Time
	Awaited  []string
}

// State returns the activity now.
func (t *Tracker) State() State {
	t.mu.Lock()
	out := State{Clients: t.clients, Watches: len(t.watches), Last: t.last}
	out.Expected, out.Awaited = t.expected.after(time.Now())
	for c := t.first; c != nil; c = c.next {
		out.Busy = append(out.Busy, describe(c.request)+" has no answer yet")
	}
	watches := slices.Collect(maps.Keys(t.watches))
	t.mu.Unlock()
	for _, w := range watches {
		if w.opened.After(out.Opened) {
			out.Opened = w.opened
		}
		if !w.isIdle() {
			out.Busy = append(out.Busy, describe(w.request)+" has not sent all of its events")
		}
	}
	slices.Sort(out.Busy)
	return out
}

func describe(r *http.Request) string {
	return fmt.Sprintf("%s %s of %s", r.Method, r.URL.RequestURI(), r.UserAgent())
}
