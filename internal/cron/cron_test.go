package cron

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNext(t *testing.T) {
	for _, tt := range []struct{ schedule, from, want string }{
		{"* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"},
		{"* * * * *", "2026-01-01T00:00:30Z", "2026-01-01T00:01:00Z"},
		{"*/15 * * * *", "2026-01-01T00:44:00Z", "2026-01-01T00:45:00Z"},
		{"30 6-16/4 * * 1-5", "2026-01-02T14:31:00Z", "2026-01-05T06:30:00Z"},
		{"0 0 31 * *", "2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z"},
		{"0 0 13 * 5", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
		{"0 0 */2 * 5", "2026-01-03T00:00:00Z", "2026-01-05T00:00:00Z"},
		{"0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"0 0 30 2 *", "2026-01-01T00:00:00Z", ""},
		{"@weekly", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"},
		{"@every 90s", "2026-01-01T00:00:00Z", "2026-01-01T00:01:30Z"},
		{"TZ=Europe/Berlin 0 9 * * *", "2026-07-01T06:59:00Z", "2026-07-01T07:00:00Z"},
		{"TZ=America/Sao_Paulo 0 0 4 11 *", "2018-01-01T00:00:00Z", "2019-11-04T03:00:00Z"},
		{"TZ=Europe/Berlin 30 2 * * *", "2026-03-29T00:00:00Z", "2026-03-30T00:30:00Z"},
	} {
		t.Run(tt.schedule, func(t *testing.T) {
			s, err := Parse(tt.schedule)
			require.NoError(t, err)
			from, err := time.Parse(time.RFC3339, tt.from)
			require.NoError(t, err)
			next := s.Next(from)
			if tt.want == "" {
				assert.True(t, next.IsZero(), "%s", next)
			} else {
				assert.Equal(t, tt.want, next.Format(time.RFC3339))
			}
		})
	}
}
