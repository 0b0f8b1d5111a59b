package server

import (
	"context"
	"net/http"
	"time"
)

const (
	// gatheringWatches is the number of watches of the same objects from which on they gather
	// changes.
	gatheringWatches = 16

	// sendTime is about twice the time that it takes to send an event to a client and to receive
	// it: while changes follow each other, half of the time is left for what makes them.
	sendTime = 30 * time.Microsecond

	// maxGatherTime bounds how much later an event is sent because its watch gathers.
	maxGatherTime = 3 * time.Millisecond

	// maxUngathered is how many times at most a watch does not gather after it has gathered nothing.
	maxUngathered = 63
)

// A gatherer lets a watch wait for more changes after one has woken it, if it has just sent some and
// many others watch the same objects. Without that, all of them send each event before the server
// reads the next request, since Go looks for input when no goroutine is left to run: the writer
// waits for all of them, and each event costs each of them a system call.
type gatherer struct {
	sent     time.Time // by the wall clock: it is the machine that is spared
	gathered bool      // before the changes that are sent next
	pass     int       // how many times the watch does not gather
	passes   int       // what pass was at first
}

// gather waits for more changes, in a watch that a change has woken together with others, watches()
// in all. Watches within the process do not: they cost no system calls.
func (g *gatherer) gather(ctx context.Context, watches func() int) {
	g.gathered = false
	ago := time.Since(g.sent)
	if ago >= maxGatherTime || ctx.Value(http.ServerContextKey) == nil {
		return
	}
	wait := gatherTime(watches(), ago)
	switch {
	case wait <= 0:
		return
	case g.pass > 0:
		g.pass--
		return
	}
	g.gathered = true
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// gatherTime returns how long a watch gathers that has sent changes so long ago, and that a change
// wakes together with others, watches in all.
func gatherTime(watches int, ago time.Duration) time.Duration {
	if watches < gatheringWatches {
		return 0
	}
	return min(time.Duration(watches)*sendTime, maxGatherTime) - ago
}

// sentChanges notes that the watch has sent a number of changes. If it has waited for one only, the
// writer may be waiting for the watches: each time, they go on for longer without gathering.
func (g *gatherer) sentChanges(changes int) {
	switch {
	case changes == 0:
		return
	case changes > 1:
		g.pass, g.passes = 0, 0
	case g.gathered:
		g.passes = min(2*g.passes+1, maxUngathered)
		g.pass = g.passes
	}
	g.sent, g.gathered = time.Now(), false
}
