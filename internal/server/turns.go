package server

import (
	"context"
	"io"
	"net/http"
	"runtime"
)

// turns bound how many of the watches that a change has woken together encode their events at a
// time. Go runs goroutines in the order in which they become ready: a request behind a thousand
// watches, each of which copies a large event to its connection, waits for all of them, several
// times. With turns it waits for few.
type turns chan struct{}

func newTurns() turns { return make(turns, runtime.GOMAXPROCS(0)) }

// A turn is that of one watch. It is the writer of the watch: the turn ends before something is
// sent, since a client that does not read may keep that waiting for as long as it likes.
type turn struct {
	to io.Writer
	of turns // nil while the watch does not have its turn
}

// Write implements [io.Writer].
func (t *turn) Write(b []byte) (int, error) {
	t.give()
	return t.to.Write(b)
}

// take waits for the turn of a watch, one of watches() of the same objects, or until ctx ends.
// Watches within the process take none, as in gather.
func (t *turn) take(ctx context.Context, of turns, watches func() int) {
	if t.of != nil || ctx.Value(http.ServerContextKey) == nil || watches() < gatheringWatches {
		return
	}
	select {
	case of <- struct{}{}:
		t.of = of
	case <-ctx.Done():
	}
}

// give ends the turn, if the watch has it. The watch must not wait for anything before.
func (t *turn) give() {
	if t.of != nil {
		<-t.of
		t.of = nil
	}
}
