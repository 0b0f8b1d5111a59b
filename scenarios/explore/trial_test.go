package explore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWatchesAt(t *testing.T) {
	end := time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)
	at := func(beforeEnd time.Duration) time.Time { return end.Add(-beforeEnd) }
	for _, row := range []struct {
		name         string
		began, ended time.Time
		want         bool
	}{
		{"open", at(time.Hour), time.Time{}, true},
		{"opened at the end", at(0), time.Time{}, false},
		{"opened just before the end", at(time.Millisecond), time.Time{}, false},
		{"ended after its timeout", at(time.Hour), at(time.Second), true},
		{"ended at once", at(time.Second), at(time.Second), false},
		{"ended long ago", at(time.Hour), at(time.Minute), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			q := &request{began: row.began, ended: row.ended}
			assert.Equal(t, row.want, q.watchesAt(end, bubblePace))
		})
	}
}

func TestSkewed(t *testing.T) {
	p := bubblePace.skewed()
	seen := map[time.Duration]bool{0: true, skew: true}
	for _, d := range []time.Duration{p.Quiet, p.Hold, p.Restart, p.Limit} {
		rest := d % time.Millisecond
		assert.False(t, seen[rest], "the rest of %v is that of another timer", d)
		seen[rest] = true
	}
}
