package main

import (
	"context"
	"time"
)

// parentPoll is how often a program checks whether its parent runs.
const parentPoll = 200 * time.Millisecond

// withParent returns a context that ends with ctx, or when the process that started
// this one has ended, so that a test that is killed leaves no server behind. A process
// whose parent has ended already when it calls withParent does not notice.
func withParent(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		waitForParent(ctx)
	}()
	return ctx, cancel
}
