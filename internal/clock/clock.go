// Package clock has the clock of a server. It runs with the wall clock, or is
// manual: then only Advance moves it. Both kinds can be advanced.
package clock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ErrNegativeDuration is the error of Advance for a negative duration.
var ErrNegativeDuration = errors.New("negative duration")

// A Clock has a time and timers. It is safe for concurrent use.
type Clock struct {
	manual bool
	offset atomic.Int64 // of a running clock, from the wall clock in nanoseconds

	mu     sync.Mutex // guards the fields below, and changes of offset
	now    time.Time  // of a manual clock
	timers map[*Timer]struct{}
	order  int // number of timers started so far
}

// New returns a clock that runs with the wall clock.
func New() *Clock { return &Clock{timers: map[*Timer]struct{}{}} }

// NewManual returns a manual clock with the time start.
func NewManual(start time.Time) *Clock {
	return &Clock{manual: true, now: start, timers: map[*Timer]struct{}{}}
}

// Fork returns a clock of the same kind with the same time. Advancing one does not
// advance the other. Timers are not copied.
func (c *Clock) Fork() *Clock {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := &Clock{manual: c.manual, now: c.now, timers: map[*Timer]struct{}{}}
	out.offset.Store(c.offset.Load())
	return out
}

// Now returns the time of the clock.
func (c *Clock) Now() time.Time { return c.NowAt(time.Now()) }

// NowAt returns what Now does to a caller that has read the wall clock.
func (c *Clock) NowAt(wall time.Time) time.Time {
	if c.manual {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.now
	}
	return c.running(wall)
}

func (c *Clock) nowLocked() time.Time {
	if c.manual {
		return c.now
	}
	return c.running(time.Now())
}

// running returns the time of a running clock when the wall clock has the time wall.
func (c *Clock) running(wall time.Time) time.Time {
	return wall.Add(time.Duration(c.offset.Load()))
}

// Manual reports whether only Advance moves the clock.
func (c *Clock) Manual() bool { return c.manual }

// Waiting returns the number of timers that have neither fired nor been stopped.
func (c *Clock) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// Next returns the earliest time of a timer that has neither fired nor been stopped;
// false if there is none.
func (c *Clock) Next() (next time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for t := range c.timers {
		if !ok || t.at.Before(next) {
			next, ok = t.at, true
		}
	}
	return next, ok
}

// Advance moves the clock forward by d and fires the timers that are due, sorted by
// their times and then by their starts. When it returns, their functions have returned.
// On a running clock, the function of a timer that the wall clock has fired may still run.
// It fails with ErrNegativeDuration if d is negative.
func (c *Clock) Advance(d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("cannot advance the clock by %v: %w", d, ErrNegativeDuration)
	}
	for _, t := range c.advance(d) {
		t.fire()
	}
	return nil
}

// advance moves the clock and returns the timers that are due.
func (c *Clock) advance(d time.Duration) (due []*Timer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.manual {
		c.now = c.now.Add(d)
	} else {
		c.offset.Add(int64(d))
	}
	now := c.nowLocked()
	for t := range c.timers {
		if !t.at.After(now) {
			due = append(due, t)
		} else if t.wall != nil {
			t.wall.Reset(t.at.Sub(now))
		}
	}
	slices.SortFunc(due, func(a, b *Timer) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order)) })
	return due
}

// A Timer closes its channel, or calls its function, when the clock reaches its
// time.
type Timer struct {
	C <-chan struct{} // nil for a timer of AfterFunc

	clock *Clock
	do    func()
	at    time.Time
	order int
	wall  *time.Timer // nil on a manual clock
}

// After returns a Timer that fires when d has passed on the clock; at once if d is
// not positive. Stop releases it.
func (c *Clock) After(d time.Duration) *Timer {
	ch := make(chan struct{})
	t := &Timer{C: ch, clock: c, do: func() { close(ch) }}
	if d <= 0 {
		t.do()
		return t
	}
	t.start(d)
	return t
}

// Until returns a Timer that fires when the clock is at a time or past it. Stop releases it.
func (c *Clock) Until(at time.Time) *Timer {
	ch := make(chan struct{})
	t := &Timer{C: ch, clock: c, do: func() { close(ch) }}
	t.startAt(at)
	return t
}

// AfterFunc calls f when d has passed on the clock: in the goroutine of the Advance
// that makes it due, otherwise in its own goroutine. Stop releases the Timer.
func (c *Clock) AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{clock: c, do: f}
	t.start(d)
	return t
}

// At calls f, as AfterFunc does, when the clock is at a time or past it.
func (c *Clock) At(at time.Time, f func()) *Timer {
	t := &Timer{clock: c, do: f}
	t.startAt(at)
	return t
}

// start starts the timer with the duration d.
func (t *Timer) start(d time.Duration) {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	t.startLocked(t.clock.nowLocked().Add(d), d)
}

// startAt starts the timer for a time.
func (t *Timer) startAt(at time.Time) {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	t.startLocked(at, at.Sub(t.clock.nowLocked()))
}

// startLocked starts the timer for a time, which is in the duration d.
func (t *Timer) startLocked(at time.Time, d time.Duration) {
	c := t.clock
	t.at = at
	c.order++
	t.order = c.order
	c.timers[t] = struct{}{}
	if !c.manual || d <= 0 {
		t.wall = time.AfterFunc(d, t.fire)
	}
}

// Stop releases the timer. If it has not fired, it never will.
func (t *Timer) Stop() {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	delete(t.clock.timers, t)
	if t.wall != nil {
		t.wall.Stop()
	}
}

// fire fires the timer, unless it has fired or is stopped.
func (t *Timer) fire() {
	if t.take() {
		t.do()
	}
}

// take removes the timer from the clock. It reports false if it was removed before.
func (t *Timer) take() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	_, waiting := t.clock.timers[t]
	delete(t.clock.timers, t)
	return waiting
}

// DeadlineKey is the key of the value of a context that is the time, on a Clock, at which
// the context ends: a [time.Time]. The context's method Deadline returns a time of the wall clock.
type DeadlineKey struct{}

// Deadline returns the time at which a context ends on its Clock.
func Deadline(ctx context.Context) (at time.Time, ok bool) {
	at, ok = ctx.Value(DeadlineKey{}).(time.Time)
	return at, ok
}

// WithTimeout is context.WithTimeout on the clock: it cancels the context, with the
// cause [context.DeadlineExceeded], when d has passed on the clock.
func (c *Clock) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return c.WithDeadline(ctx, c.Now().Add(d))
}

// WithDeadline is context.WithDeadline on the clock: it cancels the context, with the cause
// [context.DeadlineExceeded], when the clock is at the time or past it.
func (c *Clock) WithDeadline(ctx context.Context, at time.Time) (context.Context, context.CancelFunc) {
	if outer, ok := Deadline(ctx); !ok || at.Before(outer) {
		ctx = context.WithValue(ctx, DeadlineKey{}, at)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := c.At(at, func() { cancel(context.DeadlineExceeded) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// Never returns a Timer that does not fire. It need not be stopped.
func Never() *Timer { return &Timer{clock: New()} }

// A Ticker calls a function periodically.
type Ticker struct {
	mu    sync.Mutex // guards timer
	timer *Timer     // of the next call; nil after Stop
}

// Every calls f, as AfterFunc does, each time d has passed since the last call. An
// Advance by several d calls it once. It panics if d is not positive. Stop releases
// the Ticker.
func (c *Clock) Every(d time.Duration, f func()) *Ticker {
	if d <= 0 {
		panic("clock: Every with a duration that is not positive")
	}
	t := &Ticker{}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = c.AfterFunc(d, func() {
		f()
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.timer != nil {
			t.timer.start(d)
		}
	})
	return t
}

// Stop ends the calls. A call that is running may still return after Stop.
func (t *Ticker) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
}
