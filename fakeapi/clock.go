package fakeapi

import (
	"time"

	"github.com/kubefake/kubefake/internal/apiserver"
)

// A Clock is a server's time: what it writes into metadata, and what ends its
// watches, sends its bookmarks and ages its history.
type Clock struct{ api *apiserver.Server }

// Now is the server's time.
func (c Clock) Now() time.Time { return c.api.Clock().Now() }

// Advance moves the server's time ahead by d, whether it runs or stands still,
// and wakes what waited for a moment until then. It panics if d is negative.
func (c Clock) Advance(d time.Duration) { c.api.Advance(d) }
