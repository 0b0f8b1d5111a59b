// Package clock is the server's own time. It runs with the wall clock, or
// stands still until it is moved by hand; both kinds can be moved ahead.
package clock

import (
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

// Advance moves the clock d ahead and fires the timers that have come due.
// It panics if d is negative: time does not go back.
func (c *Clock) Advance(d time.Duration) {
	if d < 0 {
		panic("clock: Advance by a negative duration")
	}
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
			t.fireLocked()
		} else if t.wall != nil {
			t.wall.Reset(t.at.Sub(now))
		}
	}
}

// A Timer closes its channel once the clock reaches its time.
type Timer struct {
	C <-chan struct{}

	clock *Clock
	c     chan struct{}
	at    time.Time
	wall  *time.Timer // nil on a manual clock
}

// After returns a Timer that fires when d has passed on the clock, at once if
// d is not positive. Stop releases it.
func (c *Clock) After(d time.Duration) *Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan struct{})
	t := &Timer{C: ch, c: ch, clock: c, at: c.nowLocked().Add(d)}
	if d <= 0 {
		close(ch)
		return t
	}
	c.timers[t] = struct{}{}
	if !c.manual {
		t.wall = time.AfterFunc(d, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			t.fireLocked()
		})
	}
	return t
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

func (t *Timer) fireLocked() {
	if _, waiting := t.clock.timers[t]; waiting {
		delete(t.clock.timers, t)
		close(t.c)
	}
}

// Never returns a Timer that does not fire. It need not be stopped.
func Never() *Timer { return &Timer{clock: New()} }
