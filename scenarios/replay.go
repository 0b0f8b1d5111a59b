package scenarios

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

// ReplayTB is the part of testing.TB that Replay needs.
type ReplayTB interface {
	TB
	Cleanup(func())
}

// Replay lets the histories of a file happen at a server: what was recorded of a
// cluster happens again, in the same order and at the same pace, on the server's
// clock. What there was at the begin is there when Replay returns; the rest goes
// on in the background until the test ends. A change that cannot be made fails
// the test.
func Replay(t ReplayTB, srv *fakeapi.Server, file string, options ...ReplayOption) *Playback {
	t.Helper()
	f, err := Load(file)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	p := NewPlayback(srv, f, options...)
	if err := p.Begin(); err != nil {
		t.Fatalf("%s: %v", file, err)
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	var background sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		background.Wait()
	})
	if !p.stepped {
		background.Go(func() {
			if err := p.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", file, err)
			}
		})
	}
	return p
}

// A ReplayOption says how a history is played back.
type ReplayOption func(*Playback)

// Speed plays a history so many times as fast as it was, or as slow if factor is
// less than 1. It panics if factor is not positive.
func Speed(factor float64) ReplayOption {
	if !(factor > 0) {
		panic(fmt.Sprintf("scenarios: Speed(%v)", factor))
	}
	return func(p *Playback) { p.speed = factor }
}

// Stepped plays a history change by change, when Playback.Step is called.
func Stepped() ReplayOption { return func(p *Playback) { p.stepped = true } }

// A Playback is a history that happens at a server. Its methods may be called by
// any number of goroutines.
type Playback struct {
	srv     *fakeapi.Server
	speed   float64
	stepped bool
	done    chan struct{} // closed once nothing is left
	end     sync.Once     // closes done

	mu    sync.Mutex // guards the fields below; held while a change is made
	left  []Change
	began time.Time // on the server's clock
}

// NewPlayback returns a playback of a file's histories, one after the other, of
// which nothing has happened yet.
func NewPlayback(srv *fakeapi.Server, f *File, options ...ReplayOption) *Playback {
	p := &Playback{srv: srv, speed: 1, done: make(chan struct{})}
	for _, o := range options {
		o(p)
	}
	var began Duration
	for _, s := range f.Scenarios {
		for _, c := range s.History {
			c.At += began
			p.left = append(p.left, c)
		}
		if n := len(p.left); n > 0 {
			began = p.left[n-1].At
		}
	}
	return p
}

// Begin makes what the history begins with, the changes without an offset.
func (p *Playback) Begin() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began = p.srv.Clock().Now()
	for len(p.left) > 0 && p.left[0].At == 0 {
		if err := p.makeLocked(); err != nil {
			return err
		}
	}
	p.endLocked()
	return nil
}

// Run makes the changes at their times, after Begin, until none is left, one
// cannot be made, or ctx ends.
func (p *Playback) Run(ctx context.Context) error {
	for {
		at, ok := p.next()
		if !ok {
			return nil
		}
		due := time.Duration(float64(at) / p.speed)
		if err := p.srv.Clock().Sleep(ctx, due-p.srv.Clock().Now().Sub(p.began)); err != nil {
			return err
		}
		if err := p.make(at); err != nil {
			return err
		}
	}
}

// Step makes the next change, and reports false if there was none left. A clock
// that stands still is moved to the time of the change, one that runs is not
// waited for.
func (p *Playback) Step() (bool, error) {
	at, ok := p.next()
	if !ok {
		return false, nil
	}
	clock := p.srv.Clock()
	due := time.Duration(float64(at) / p.speed)
	if wait := due - clock.Now().Sub(p.began); clock.Manual() && wait > 0 {
		clock.Advance(wait)
	}
	return true, p.make(at)
}

// Done is closed once the whole history has happened.
func (p *Playback) Done() <-chan struct{} { return p.done }

// next is the offset of the next change.
func (p *Playback) next() (Duration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.left) == 0 {
		return 0, false
	}
	return p.left[0].At, true
}

// make makes the next change, unless somebody else has made that at the offset.
func (p *Playback) make(at Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.left) == 0 || p.left[0].At != at {
		return nil
	}
	err := p.makeLocked()
	p.endLocked()
	return err
}

func (p *Playback) makeLocked() error {
	c := p.left[0]
	p.left = p.left[1:]
	for _, o := range c.Put {
		if _, err := p.srv.Put(o); err != nil {
			return fmt.Errorf("history at %s: %w", c.At, err)
		}
	}
	for _, o := range c.Delete {
		if err := p.srv.Remove(o); err != nil {
			return fmt.Errorf("history at %s: %w", c.At, err)
		}
	}
	return nil
}

func (p *Playback) endLocked() {
	if len(p.left) == 0 {
		p.end.Do(func() { close(p.done) })
	}
}
