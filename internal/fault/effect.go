package fault

import (
	"slices"

	"github.com/kubefake/kubefake/fakeapi/faults"
)

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
