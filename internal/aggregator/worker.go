package aggregator

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/cluster"
	"github.com/kubefake/kubefake/internal/discovery"
	"github.com/kubefake/kubefake/internal/openapi"
)

// A worker calls the server of one remote APIService.
type worker struct {
	aggregator *Aggregator
	service    atomic.Pointer[apiService]
	written    atomic.Pointer[cluster.Availability] // the condition that it wrote last; nil before
	ctx        context.Context                      // ends with the APIService
	stop       context.CancelFunc

	availability, discovery, documents *loop

	discovered *discovery.Remote // what the server says of its group version
	openAPI    *openapi.Remote   // its OpenAPI documents; nil before they are loaded
}

func (a *Aggregator) newWorker(s *apiService) *worker {
	w := &worker{aggregator: a, discovered: &discovery.Remote{}}
	w.service.Store(s)
	w.ctx, w.stop = context.WithCancel(a.config.Context)
	w.availability = &loop{worker: w, call: w.checkAvailability, interval: 30 * time.Second, delay: 5 * time.Millisecond, maxDelay: 30 * time.Second}
	w.discovery = &loop{worker: w, call: w.discover, interval: time.Minute, delay: 500 * time.Millisecond, maxDelay: time.Minute}
	w.documents = &loop{worker: w, call: w.loadOpenAPI, interval: time.Minute, delay: time.Minute, maxDelay: time.Hour}
	return w
}

// loops returns the calls that the worker repeats.
func (w *worker) loops() []*loop { return []*loop{w.availability, w.discovery, w.documents} }

// current returns the APIService as it was last loaded.
func (w *worker) current() *apiService { return w.service.Load() }

// start starts the loops.
func (w *worker) start() {
	for _, l := range w.loops() {
		l.woken = make(chan struct{}, 1)
		l.wake()
		w.aggregator.running.Add(1)
		go func() {
			defer w.aggregator.running.Done()
			l.run()
		}()
	}
}

// update replaces the APIService. Any write makes a check due but that of the availability by the
// worker itself.
func (w *worker) update(s *apiService) {
	old, written := w.service.Swap(s), w.written.Load()
	for _, l := range w.loops() {
		if old.spec != s.spec || l != w.availability && old.available != s.available {
			l.wake()
		}
	}
	own := written != nil && written.Available == s.available && written.Reason == s.reason
	if written != nil && !own || own && old.stored.Revision != s.stored.Revision && old.available == s.available && old.reason == s.reason {
		w.availability.wake()
	}
}

// A loop repeats a call: when it is woken, after an interval and, if the call fails, after a
// delay that doubles with each failure.
type loop struct {
	worker                    *worker
	call                      func(ctx context.Context) error
	interval, delay, maxDelay time.Duration

	woken chan struct{} // has an element after wake
	mu    sync.Mutex    // guards the field below
	end   func()        // of the activity that a call is due; nil if none is
}

// wake makes the call due.
func (l *loop) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.worker.ctx.Err() != nil {
		return
	}
	select {
	case l.woken <- struct{}{}:
	default:
	}
	if l.end == nil {
		l.end = l.worker.aggregator.busy(l.worker.current())
	}
}

// rest ends the activity unless a call is due.
func (l *loop) rest(closing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end != nil && (closing || len(l.woken) == 0) {
		l.end()
		l.end = nil
	}
}

// run makes the calls until the worker stops.
func (l *loop) run() {
	defer l.rest(true)
	timer, retry := clock.Never(), l.delay
	for {
		select {
		case <-l.worker.ctx.Done():
			timer.Stop()
			return
		case <-l.woken:
			timer.Stop()
		}
		next := l.interval
		if err := l.call(l.worker.ctx); err == nil {
			retry = l.delay
		} else {
			next, retry = retry, min(2*retry, l.maxDelay)
		}
		timer = l.worker.aggregator.config.Clock.AfterFunc(next, l.wake)
		l.rest(false)
	}
}
