package server

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestGatherTime(t *testing.T) {
	for _, tt := range []struct {
		name    string
		watches int
		ago     time.Duration
		want    time.Duration
	}{
		{"few watches", gatheringWatches - 1, 0, 0},
		{"many watches", 20, 0, 20 * sendTime},
		{"sent some time ago", 20, sendTime, 19 * sendTime},
		{"at most", 1000000, 0, maxGatherTime},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, gatherTime(tt.watches, tt.ago))
		})
	}
	assert.LessOrEqual(t, gatherTime(1000000, maxGatherTime), time.Duration(0), "sent long ago")
}

// A watch that has gathered nothing gathers less often, until it has sent several changes at once.
func TestGathererPasses(t *testing.T) {
	ctx := context.WithValue(context.Background(), http.ServerContextKey, new(http.Server))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	var g gatherer
	watches := func() int { return gatheringWatches }
	sends := func(changes int) (gathered bool) {
		g.sent = time.Now().Add(time.Hour) // so that the time is not over
		g.gather(ended, watches)
		gathered = g.gathered
		g.sentChanges(changes)
		return gathered
	}
	passes := func() (n int) {
		for !sends(1) {
			n++
		}
		return n
	}
	for _, want := range []int{0, 1, 3, 7, 15, 31, 63, 63} {
		assert.Equal(t, want, passes())
	}
	assert.False(t, sends(2))
	assert.True(t, sends(2))
	assert.True(t, sends(1))
	assert.Equal(t, 1, passes())

	g = gatherer{}
	g.sent = time.Now().Add(time.Hour)
	g.gather(context.Background(), watches)
	assert.False(t, g.gathered, "a watch within the process")
}
