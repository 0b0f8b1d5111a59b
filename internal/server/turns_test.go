package server

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A stuckWriter is the connection of a client that does not read.
type stuckWriter struct{ stuck, read chan struct{} }

func (w stuckWriter) Write(b []byte) (int, error) {
	close(w.stuck)
	<-w.read
	return len(b), nil
}

// A watch whose client does not read has no turn, so others have theirs.
func TestTurns(t *testing.T) {
	ctx := context.WithValue(context.Background(), http.ServerContextKey, &http.Server{})
	many := func() int { return gatheringWatches }
	of := make(turns, 1)
	w := stuckWriter{make(chan struct{}), make(chan struct{})}
	slow := &turn{to: w}
	slow.take(ctx, of, many)
	require.Len(t, of, 1)

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	late := &turn{}
	late.take(cancelled, of, many)
	late.give()
	assert.Len(t, of, 1, "a watch that ends while it waits has no turn to give")

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = slow.Write([]byte("event"))
	}()
	<-w.stuck
	next := &turn{}
	next.take(ctx, of, many)
	assert.Len(t, of, 1)
	next.give()
	next.give()
	assert.Empty(t, of)
	close(w.read)
	<-ended

	few := func() int { return gatheringWatches - 1 }
	next.take(ctx, of, few)
	assert.Empty(t, of, "few watches")
	next.take(context.Background(), of, many)
	assert.Empty(t, of, "a watch within the process")
}
