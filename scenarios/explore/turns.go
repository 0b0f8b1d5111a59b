package explore

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

// turns deliver the events of all watches one after the other. Each event waits until the
// system has nothing left to do with the one before, so that goroutines of the system that
// follow different watches do not race. The order of events that are due at the same time is
// that of their revisions, the same in every run.
type turns struct {
	mu      sync.Mutex // guards waiting
	waiting []*turn
	wake    chan struct{} // has an element if a turn was added
}

// A turn is an event that waits.
type turn struct {
	version, client, resource, name string
	watch                           int
	come                            chan struct{} // closed when the event may be sent
}

func newTurns() *turns { return &turns{wake: make(chan struct{}, 1)} }

// wait returns when it is the turn of an event. It reports whether its client is still there.
func (t *turns) wait(p *fakeapi.Point) bool {
	mine := &turn{p.ResourceVersion, clientOf(p.UserAgent), p.Resource, p.Namespace + "/" + p.Name, p.Watch, make(chan struct{})}
	t.mu.Lock()
	t.waiting = append(t.waiting, mine)
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
	select {
	case <-mine.come:
		return true
	case <-p.Context().Done():
		return false
	}
}

// run gives turns until ctx ends. Sleep returns when all other goroutines of the bubble wait.
func (t *turns) run(ctx context.Context) {
	for {
		select {
		case <-t.wake:
		case <-ctx.Done():
			return
		}
		for ctx.Err() == nil {
			time.Sleep(time.Nanosecond)
			next := t.next()
			if next == nil {
				break
			}
			close(next.come)
		}
	}
}

// next removes the first turn, nil if there is none.
func (t *turns) next() *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		return nil
	}
	first := slices.MinFunc(t.waiting, (*turn).compare)
	t.waiting = slices.DeleteFunc(t.waiting, func(other *turn) bool { return other == first })
	return first
}

func (t *turn) compare(other *turn) int {
	return cmp.Or(
		cmp.Compare(len(t.version), len(other.version)), // versions are decimal numbers
		strings.Compare(t.version, other.version),
		strings.Compare(t.client, other.client),
		strings.Compare(t.resource, other.resource),
		strings.Compare(t.name, other.name),
		cmp.Compare(t.watch, other.watch),
	)
}
