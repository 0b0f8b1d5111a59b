package fakeapi

import (
	"context"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/server"
)

// A Clock is the time of a server. Timestamps in metadata, timeouts of watches,
// bookmarks, lagging watch caches, compaction, and the expiry of events and tokens
// use it. By default it runs with the wall clock; see WithManualClock.
type Clock struct{ api *server.Server }

// Now returns the server's time.
func (c Clock) Now() time.Time { return c.api.Cluster().Clock().Now() }

// Advance moves the time forward by d and fires the timers that are due. When it
// returns, the server has run all of them. It fails with ErrNegativeDuration if d is
// negative.
//
// On a manual clock the controllers of the server act meanwhile, each time at the time at
// which they have something to do, as if the clock was advanced in steps. The kubelet, if it
// runs, renews the Lease of each Node every 10 seconds.
func (c Clock) Advance(d time.Duration) error { return c.api.Control().Advance(d) }

// Sleep waits until d has passed on the clock, or until ctx is done. Then it
// returns the error of ctx.
func (c Clock) Sleep(ctx context.Context, d time.Duration) error {
	return wait(ctx, c.api.Cluster().Clock().After(d))
}

// SleepUntil waits until the clock is at a time or past it, or until ctx is done. Then it
// returns the error of ctx.
func (c Clock) SleepUntil(ctx context.Context, at time.Time) error {
	return wait(ctx, c.api.Cluster().Clock().Until(at))
}

// wait waits until t fires or ctx is done, and releases t.
func wait(ctx context.Context, t *clock.Timer) error {
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
