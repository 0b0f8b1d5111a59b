// Package clock is the server's own time. It runs with the wall clock, or
// stands still until it is moved by hand; both kinds can be moved ahead.
package clock

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// A Clock tells the time and wakes those who wait for a moment of it. It is
// safe for concurrent use.
type Clock struct {
	mu     sync.Mutex
	manual bool
	offset time.Duration // running clock: how far ahead of the wall clock
	now    time.Time     // manual clock: the time
	timers map[*Timer]struct{}
	order  int // of the newest timer
}

// New returns a clock that runs with the wall clock.
func New() *Clock { return &Clock{timers: map[*Timer]struct{}{}} }

// NewManual returns a clock that stands at start until it is moved.
func NewManual(start time.Time) *Clock {
	return &Clock{manual: true, now: start, timers: map[*Timer]struct{}{}}
}

// Fork returns a clock of the same kind that shows the same time. Moving one
// does not move the other.
func (c *Clock) Fork() *Clock {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &Clock{manual: c.manual, offset: c.offset, now: c.now, timers: map[*Timer]struct{}{}}
}

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nowLocked()
}

func (c *Clock) nowLocked() time.Time {
	if c.manual {
		return c.now
	}
	return time.Now().Add(c.offset)
}

// Manual reports whether the clock stands still between calls of Advance.
func (c *Clock) Manual() bool { return c.manual }

// Waiting is how many timers have neither fired nor been stopped.
func (c *Clock) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// Advance moves the clock d ahead and fires the timers that have come due, in
// the order of their times and then of their beginnings. When it returns, the
// functions of AfterFunc among them have. It panics if d is negative: time does not go back.
func (c *Clock) Advance(d time.Duration) {
	if d < 0 {
		panic("clock: Advance by a negative duration")
	}
	for _, t := range c.advance(d) {
		t.fire()
	}
}

// advance moves the clock and returns the timers that have come due.
func (c *Clock) advance(d time.Duration) (due []*Timer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.manual {
		c.now = c.now.Add(d)
	} else {
		c.offset += d
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

// A Timer closes its channel, or calls its function, once the clock reaches its
// time.
type Timer struct {
	C <-chan struct{} // nil for one of AfterFunc

	clock *Clock
	do    func()
	at    time.Time
	order int
	wall  *time.Timer // nil on a manual clock
}

// After returns a Timer that fires when d has passed on the clock, at once if
// d is not positive. Stop releases it.
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

// AfterFunc calls f when d has passed on the clock: from the goroutine that
// moves the clock, from one of its own otherwise. Stop releases the Timer.
func (c *Clock) AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{clock: c, do: f}
	t.start(d)
	return t
}

// start has the timer wait for d.
func (t *Timer) start(d time.Duration) {
	c := t.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	t.at = c.nowLocked().Add(d)
	c.order++
	t.order = c.order
	c.timers[t] = struct{}{}
	if !c.manual || d <= 0 {
		t.wall = time.AfterFunc(d, t.fire)
	}
}

// Stop releases the timer; one that has not fired never will.
func (t *Timer) Stop() {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	delete(t.clock.timers, t)
	if t.wall != nil {
		t.wall.Stop()
	}
}

// fire does what the timer is for, unless that is done or the timer stopped.
func (t *Timer) fire() {
	if t.take() {
		t.do()
	}
}

func (t *Timer) take() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	_, waiting := t.clock.timers[t]
	delete(t.clock.timers, t)
	return waiting
}

// WithTimeout is context.WithTimeout by the clock: the context ends, with the
// cause [context.DeadlineExceeded], once d has passed on it.
func (c *Clock) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := c.AfterFunc(d, func() { cancel(context.DeadlineExceeded) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// Never returns a Timer that does not fire. It need not be stopped.
func Never() *Timer { return &Timer{clock: New()} }

// A Ticker calls a function again and again.
type Ticker struct {
	mu    sync.Mutex // guards timer
	timer *Timer     // of the next call; nil once stopped
}

// Every calls f each time that d has passed since it was called last, as
// AfterFunc does: once where the clock was moved ahead by more than d. It panics
// if d is not positive. Stop releases the Ticker.
func (c *Clock) Every(d time.Duration, f func()) *Ticker {
	if d <= 0 {
		panic("clock: Every no time at all")
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

// Stop ends the calls, after one that is under way.
func (t *Ticker) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
}
