package explore

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/fakeapi/faults"
)

// turns let the system go one step at a time. A step is a request of the system that is
// served, or an event that is delivered to one of its watches. Each waits until the system has
// nothing left to do with the one before, so that its goroutines do not race. The order of
// steps that are due at the same time is the same in every run: requests come first, events
// follow in the order of their revisions.
type turns struct {
	mu      sync.Mutex // guards waiting
	waiting []*turn
	wake    chan struct{} // has an element if a turn was added
	steps   *stepCounter
}

// A stepCounter counts the turns of a run. It may be read outside of the run's bubble.
type stepCounter struct{ asked, given atomic.Int64 }

// idle reports whether each turn that was requested is over.
func (c *stepCounter) idle() bool { return c.asked.Load() == c.given.Load() }

// A turn is a request or an event that waits.
type turn struct {
	version  string // of an event
	client   string
	resource string
	name     string // of an event's object, or the method and the query of a request
	watch    int
	cluster  string
	come     chan struct{} // closed when it is its turn
}

func newTurns(steps *stepCounter) *turns { return &turns{wake: make(chan struct{}, 1), steps: steps} }

// deliver returns when it is the turn of an event. It reports whether its client is still
// there.
func (t *turns) deliver(p *faults.Point) bool {
	return t.wait(p.Context(), &turn{version: p.ResourceVersion, client: clientOf(p.UserAgent), resource: p.Resource, name: p.Namespace + "/" + p.Name, watch: p.Watch, cluster: requestOf(p.Request).in})
}

// serve returns when it is the turn of a request. It reports whether its client is still
// there.
func (t *turns) serve(r *http.Request, cluster string) bool {
	return t.wait(r.Context(), &turn{client: clientOf(r.UserAgent()), resource: r.URL.Path, name: r.Method + " " + r.URL.RawQuery, cluster: cluster})
}

// wait returns when a turn begins. It returns false if ctx has ended before.
func (t *turns) wait(ctx context.Context, mine *turn) bool {
	mine.come = make(chan struct{})
	t.steps.asked.Add(1)
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
	case <-ctx.Done():
		return false
	}
}

// stepTime is how long a step takes. Without it a system that answers an event with a request,
// which leads to the next event, would not let time pass: what ends such a loop would never come.
// Steps do not begin at whole milliseconds, as timers of the system are due.
const stepTime = 5*time.Millisecond + 17*time.Nanosecond

// run gives turns until ctx ends. Sleep returns when all other goroutines of the bubble wait.
func (t *turns) run(ctx context.Context) {
	for {
		select {
		case <-t.wake:
		case <-ctx.Done():
			return
		}
		for ctx.Err() == nil {
			time.Sleep(stepTime)
			next := t.next()
			if next == nil {
				break
			}
			t.steps.given.Add(1)
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
		strings.Compare(t.cluster, other.cluster),
	)
}
