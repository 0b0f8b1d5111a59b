package clock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/clock"
)

func TestTimestamp(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 999, time.FixedZone("", 3600))
	for range 2 {
		assert.Equal(t, "2026-01-02T02:04:05Z", clock.Timestamp(at))
		assert.Equal(t, "2026-01-02T02:04:05Z", clock.Timestamp(at.Add(time.Millisecond).UTC()))
		assert.Equal(t, "2026-01-02T02:04:06Z", clock.Timestamp(at.Add(time.Second)))
		assert.Equal(t, "0001-01-01T00:00:00Z", clock.Timestamp(time.Time{}))
	}
}
