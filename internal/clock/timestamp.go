package clock

import (
	"sync/atomic"
	"time"
)

// Timestamp returns a time as objects have it: in RFC 3339, in UTC and without a fraction of a
// second. It keeps the last text, because a write needs that of the present several times.
func Timestamp(t time.Time) string {
	second := t.Unix()
	if last := lastTimestamp.Load(); last != nil && last.second == second {
		return last.text
	}
	text := t.UTC().Format(time.RFC3339)
	lastTimestamp.Store(&timestamp{second, text})
	return text
}

// A timestamp is a second and its text.
type timestamp struct {
	second int64
	text   string
}

var lastTimestamp atomic.Pointer[timestamp]
