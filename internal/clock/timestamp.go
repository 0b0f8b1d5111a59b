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

// MicroTimestamp returns a time as a MicroTime: in RFC 3339, in UTC, with six digits of a second.
func MicroTimestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00") }

// A timestamp is a second and its text.
type timestamp struct {
	second int64
	text   string
}

var lastTimestamp atomic.Pointer[timestamp]
