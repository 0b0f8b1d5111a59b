package scenarios

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/backdoor"
	"github.com/kubefake/kubefake/internal/printable"
)

// Reenact writes the histories of a file to a server: every change, in the
// recorded order and at the recorded offsets, on the server's clock. The changes
// without an offset are made before Reenact returns, the others in the background
// until the test ends. A change that the server refuses fails the test.
func Reenact(t TB, srv *fakeapi.Server, file string, options ...ReenactOption) *Reenactment {
	t.Helper()
	f, err := Load(file)
	if err != nil {
		t.Fatalf("%s", printable.Text(err.Error()))
		return nil
	}
	r, err := NewReenactment(srv, f, options...)
	if err == nil {
		err = r.Start()
	}
	if err != nil {
		t.Fatalf("%s: %s", file, printable.Text(err.Error()))
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	var background sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		background.Wait()
	})
	if !r.stepped {
		background.Add(1)
		go func() {
			defer background.Done()
			if err := r.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %s", file, printable.Text(err.Error()))
			}
		}()
	}
	return r
}

// A ReenactOption configures a Reenactment.
type ReenactOption func(*Reenactment) error

// Speed divides all offsets by factor: 10 is ten times as fast as recorded, 0.5
// half as fast. A factor that is not positive is an ErrInvalidOption.
func Speed(factor float64) ReenactOption {
	return func(r *Reenactment) error {
		if !(factor > 0) {
			return fmt.Errorf("%w: Speed(%v): the factor must be positive", ErrInvalidOption, factor)
		}
		r.speed = factor
		return nil
	}
}

// Stepped makes each change only when Reenactment.Step is called.
func Stepped() ReenactOption {
	return func(r *Reenactment) error { r.stepped = true; return nil }
}

// A Reenactment writes a recorded history to a server. Its methods may be called
// from any goroutine.
type Reenactment struct {
	srv      *fakeapi.Server
	speed    float64
	stepped  bool
	done     chan struct{} // closed after the last change
	doneOnce sync.Once     // closes done

	mu        sync.Mutex // guards the fields below; held while a change is made
	remaining []Change
	started   time.Time // on the server's clock
}

// NewReenactment returns a reenactment of the histories of a file, one after the
// other. It changes nothing until Start. It fails with ErrInvalidOption.
func NewReenactment(srv *fakeapi.Server, f *File, options ...ReenactOption) (*Reenactment, error) {
	r := &Reenactment{srv: srv, speed: 1, done: make(chan struct{})}
	for _, o := range options {
		if err := o(r); err != nil {
			return nil, err
		}
	}
	var offset Duration
	for _, s := range f.Scenarios {
		for _, c := range s.History {
			c.At += offset
			r.remaining = append(r.remaining, c)
		}
		if n := len(r.remaining); n > 0 {
			offset = r.remaining[n-1].At
		}
	}
	return r, nil
}

// Start sets the time to which offsets refer and makes the changes without an
// offset.
func (r *Reenactment) Start() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = r.srv.Clock().Now()
	for len(r.remaining) > 0 && r.remaining[0].At == 0 {
		if err := r.applyNextLocked(); err != nil {
			return err
		}
	}
	r.closeDoneLocked()
	return nil
}

// Run makes each remaining change when it is due. It returns after the last one,
// when a change fails, or with the context's error when ctx ends. Call it after
// Start.
func (r *Reenactment) Run(ctx context.Context) error {
	for {
		at, ok := r.nextOffset()
		if !ok {
			return nil
		}
		due := time.Duration(float64(at) / r.speed)
		if err := r.srv.Clock().SleepUntil(ctx, r.started.Add(due)); err != nil {
			return err
		}
		if err := r.apply(at); err != nil {
			return err
		}
	}
}

// Step makes the next change at once. It returns false if no change was left. A
// manual clock is first advanced to the time of the change.
func (r *Reenactment) Step() (bool, error) {
	at, ok := r.nextOffset()
	if !ok {
		return false, nil
	}
	clock := r.srv.Clock()
	due := time.Duration(float64(at) / r.speed)
	if wait := due - clock.Now().Sub(r.started); backdoor.Of(r.srv).HasManualClock() && wait > 0 {
		if err := clock.Advance(wait); err != nil {
			return true, err
		}
	}
	return true, r.apply(at)
}

// Done returns a channel that is closed after the last change.
func (r *Reenactment) Done() <-chan struct{} { return r.done }

// nextOffset returns the offset of the next change; false if none is left.
func (r *Reenactment) nextOffset() (Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.remaining) == 0 {
		return 0, false
	}
	return r.remaining[0].At, true
}

// apply makes the next change if it is still the one at the given offset: another
// goroutine may have made that one meanwhile.
func (r *Reenactment) apply(at Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.remaining) == 0 || r.remaining[0].At != at {
		return nil
	}
	err := r.applyNextLocked()
	r.closeDoneLocked()
	return err
}

func (r *Reenactment) applyNextLocked() error {
	c := r.remaining[0]
	r.remaining = r.remaining[1:]
	for _, o := range c.Store {
		if _, err := r.srv.Store(o); err != nil {
			return fmt.Errorf("history at %s: %w", c.At, err)
		}
	}
	for _, o := range c.Remove {
		if err := backdoor.Of(r.srv).RemoveObject(o); err != nil {
			return fmt.Errorf("history at %s: %w", c.At, err)
		}
	}
	return nil
}

func (r *Reenactment) closeDoneLocked() {
	if len(r.remaining) == 0 {
		r.doneOnce.Do(func() { close(r.done) })
	}
}
