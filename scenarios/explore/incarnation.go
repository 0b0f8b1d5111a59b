package explore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

// An incarnation is the system between a start and a crash. It has a front end of its own,
// so that what is left of it after the crash reaches nothing.
type incarnation struct {
	front *fakeapi.Server
	dead  atomic.Bool   // its requests are refused
	old   atomic.Bool   // what it reads from the watch cache is not the present state
	over  chan struct{} // closed by crash
	once  sync.Once
}

// crash ends the incarnation: from now on its requests are refused. It may be called while
// one of them is served.
func (i *incarnation) crash() {
	i.dead.Store(true)
	i.once.Do(func() { close(i.over) })
}

// A supervisor starts the system, and starts it again after a crash.
type supervisor struct {
	trial *trial
	ctx   context.Context // ends with the trial
	done  chan struct{}   // closed when the supervisor has ended

	mu      sync.Mutex   // guards the fields below
	current *incarnation // the newest
	starts  int
	stopped bool          // it starts no incarnation until resume
	resumed chan struct{} // closed by resume
	exits   []string      // why Start has returned early
	panics  []string
}

// maxExits is how many times Start may fail before the supervisor gives up.
const maxExits = 10

// stopTimeout is how long an incarnation may take to end.
const stopTimeout = 30 * time.Second

func newSupervisor(ctx context.Context, t *trial) *supervisor {
	return &supervisor{trial: t, ctx: ctx, done: make(chan struct{}), resumed: make(chan struct{})}
}

// run starts incarnations until the context ends.
func (s *supervisor) run() {
	defer close(s.done)
	for s.ctx.Err() == nil {
		crashed := s.live()
		pause := s.trial.pace.Restart
		if !crashed {
			s.mu.Lock()
			n := len(s.exits) + len(s.panics)
			s.mu.Unlock()
			if n >= maxExits {
				return
			}
			pause <<= min(n, 6)
		}
		if s.trial.target.users().Clock().Sleep(s.ctx, pause) != nil {
			return
		}
		s.mu.Lock()
		stopped := s.stopped
		s.mu.Unlock()
		if stopped {
			select {
			case <-s.resumed:
			case <-s.ctx.Done():
			}
		}
	}
}

// isDone reports whether the supervisor starts no more incarnations.
func (s *supervisor) isDone() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// isStopped reports whether the supervisor starts no incarnation until the workload is over.
func (s *supervisor) isStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// live runs one incarnation. It reports whether it has ended by a crash.
func (s *supervisor) live() (crashed bool) {
	i := &incarnation{over: make(chan struct{})}
	life := newLifetime(s.ctx)
	defer life.end()
	s.mu.Lock()
	s.current = i
	s.starts++
	s.mu.Unlock()
	front, err := s.trial.frontEnd(i, func(cluster string, next http.Handler) http.Handler { return s.trial.gate(i, cluster, next) })
	if err != nil {
		s.exit(err.Error(), false)
		return false
	}
	i.front = front
	defer front.Close()
	returned := make(chan error, 1)
	go func() {
		defer close(returned)
		defer func() {
			if p := recover(); p != nil {
				s.exit(fmt.Sprintf("%v\n%s", p, debug.Stack()), true)
				returned <- errPanic
			}
		}()
		returned <- s.trial.system.Start(life, front)
	}()
	wait := (<-chan error)(returned)
	for {
		select {
		case err := <-wait:
			if err == nil {
				wait = nil // it runs in the background
				continue
			}
			if s.ctx.Err() != nil || i.dead.Load() {
				return true
			}
			if err != errPanic {
				s.exit(err.Error(), false)
			}
			i.dead.Store(true)
			return false
		case <-i.over:
		case <-s.ctx.Done():
		}
		life.end()
		if wait != nil {
			timer := time.NewTimer(stopTimeout)
			defer timer.Stop()
			select {
			case <-wait:
			case <-timer.C:
			}
		}
		return true
	}
}

// errPanic is what Start returns after a panic.
var errPanic = errors.New("panic")

func (s *supervisor) exit(text string, panicked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if panicked {
		s.panics = append(s.panics, text)
	} else {
		s.exits = append(s.exits, text)
	}
}

// crash ends an incarnation. With stop the next one waits for resume.
func (s *supervisor) crash(i *incarnation, stop bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop {
		select {
		case <-s.resumed:
		default:
			s.stopped = true
		}
	}
	i.crash()
}

// restart ends the newest incarnation, and lets a stopped system start.
func (s *supervisor) restart() {
	s.mu.Lock()
	if s.current != nil {
		s.current.crash()
	}
	s.mu.Unlock()
	s.resume()
}

// resume lets a stopped system start.
func (s *supervisor) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped = false; s.resumed != nil {
		select {
		case <-s.resumed:
		default:
			close(s.resumed)
		}
	}
}
