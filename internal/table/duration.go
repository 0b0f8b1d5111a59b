package table

import (
	"strconv"
	"time"
)

// A durationFormat formats durations up to a limit.
type durationFormat struct {
	under time.Duration // exclusive
	unit  time.Duration
	mark  string
	// rest is the smaller unit that is added unless it is zero; 0 for a
	// durationFormat that uses unit only.
	rest     time.Duration
	restMark string
}

const (
	day  = 24 * time.Hour
	year = 365 * day
)

var durationFormats = []durationFormat{
	{under: 2 * time.Minute, unit: time.Second, mark: "s"},
	{under: 10 * time.Minute, unit: time.Minute, mark: "m", rest: time.Second, restMark: "s"},
	{under: 3 * time.Hour, unit: time.Minute, mark: "m"},
	{under: 8 * time.Hour, unit: time.Hour, mark: "h", rest: time.Minute, restMark: "m"},
	{under: 2 * day, unit: time.Hour, mark: "h"},
	{under: 8 * day, unit: day, mark: "d", rest: time.Hour, restMark: "h"},
	{under: 2 * year, unit: day, mark: "d"},
	{under: 8 * year, unit: year, mark: "y", rest: day, restMark: "d"},
	{under: 1<<63 - 1, unit: year, mark: "y"},
}

// Duration formats a duration as kubectl does, less precisely the longer it is:
// 90s, 5m20s, 90m, 6h3m, 30h, 3d4h, 90d, 3y1d. Two seconds and more in the
// future are "<invalid>".
func Duration(d time.Duration) string {
	if d <= -2*time.Second {
		return "<invalid>"
	}
	d = max(d, 0)
	for _, s := range durationFormats {
		if d >= s.under {
			continue
		}
		text := strconv.FormatInt(int64(d/s.unit), 10) + s.mark
		if s.rest > 0 {
			if n := d % s.unit / s.rest; n > 0 {
				text += strconv.FormatInt(int64(n), 10) + s.restMark
			}
		}
		return text
	}
	return "" // unreachable: the last durationFormat has no limit
}

// Age returns the time from a moment to now: "<unknown>" for an empty moment,
// "<invalid>" for text that is not a time.
func Age(moment string, now time.Time) string {
	if moment == "" || moment == "null" {
		return Unknown
	}
	t, err := time.Parse(time.RFC3339, moment)
	if err != nil {
		return "<invalid>"
	}
	if t.IsZero() {
		return Unknown
	}
	return Duration(now.Sub(t))
}
