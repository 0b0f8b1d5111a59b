package fakeapi

import (
	"context"
	"time"

	"github.com/kubefake/kubefake/internal/apiserver"
)

// A Clock is a server's time: what it writes into metadata, and what ends its
// watches, sends its bookmarks, moves on caches that lag, ages and compacts its
// history, and has its events and tokens expire.
type Clock struct{ api *apiserver.Server }

// Now is the server's time.
func (c Clock) Now() time.Time { return c.api.Clock().Now() }

// Advance moves the server's time ahead by d, whether it runs or stands still,
// and wakes what waited for a moment until then. It panics if d is negative.
func (c Clock) Advance(d time.Duration) { c.api.Advance(d) }

// Manual reports whether time stands still between calls of Advance.
func (c Clock) Manual() bool { return c.api.Clock().Manual() }

// Sleep waits until d has passed on the clock. It returns early, with the error
// of ctx, once that is done.
func (c Clock) Sleep(ctx context.Context, d time.Duration) error {
	t := c.api.Clock().After(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
