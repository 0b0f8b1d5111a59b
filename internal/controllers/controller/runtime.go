package controller

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/cluster"
	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/release"
)

// Config configures a Runtime. All fields are required, but for those that its controllers
// do not use.
type Config struct {
	Cluster *cluster.Cluster
	Faults  *fault.Set

	// Release is what the server serves.
	Release *release.Release

	// RootCA is the CA certificate of the server in PEM; "" without TLS.
	RootCA string

	// Sign issues a certificate of a public key in PEM, signed by the CA of the cluster.
	Sign func(template *x509.Certificate, public crypto.PublicKey) ([]byte, error)

	// Lifecycle is what Pods and Nodes do by themselves.
	Lifecycle *lifecycle.Set
}

// A Runtime runs controllers for one server. Its methods are safe for concurrent
// use; those of Env, Informer, Queue and Client are for the controllers that it
// runs.
type Runtime struct {
	server  server
	clock   *clock.Clock
	release *release.Release
	version string
	rootCA  string
	sign    func(template *x509.Certificate, public crypto.PublicKey) ([]byte, error)
	keys    *serviceaccount.Keys

	lifecycle *lifecycle.Set
	names     []string // of the controllers

	ctx    context.Context
	cancel context.CancelFunc
	wake   chan struct{} // has an element if the goroutine should look for work
	done   chan struct{} // closed when the goroutine has ended; nil on a manual clock

	// calling is set while a controller makes a request through faults, whose functions
	// may advance the clock.
	calling atomic.Bool

	turn      turn // held while controllers run; guards the fields below
	informers informers
	ready     []readyKey
	delays    delays
	batches   int // the number of delays of AddBatched
	order     int
	checks    []func()     // of Check
	timer     *clock.Timer // of the earliest delay, on a running clock
	events    events
	failed    error // the error that has ended the Runtime
}

// A Starter is a controller by its name.
type Starter struct {
	Name  string // as --controllers has it
	Start func(*Env)
}

// New returns a Runtime of controllers, which it starts in their order. On a running
// clock they run until Close; on a manual one they run in Run. The caller must Close
// the Runtime.
func New(c Config, controllers []Starter) (*Runtime, error) {
	r := &Runtime{
		server: &apiServer{c.Cluster, c.Faults}, clock: c.Cluster.Clock(), release: c.Release, version: fmt.Sprintf("%s (%s/%s)", c.Release.Version(), runtime.GOOS, runtime.GOARCH), rootCA: c.RootCA, sign: c.Sign, keys: c.Cluster.ServiceAccountKeys(),
		lifecycle: c.Lifecycle, wake: make(chan struct{}, 1), turn: make(turn, 1),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.turn.lock()
	defer r.turn.unlock()
	for _, s := range controllers {
		r.names = append(r.names, s.Name)
	}
	for _, s := range controllers {
		s.Start(&Env{Runtime: r, Name: s.Name})
	}
	if err := r.startInformers(); err != nil {
		r.cancel()
		return nil, err
	}
	if !r.clock.Manual() {
		r.done = make(chan struct{})
		r.server.onCacheMove(r.Wake)
		go r.loop()
	}
	return r, nil
}

// Close ends the controllers. When it returns, none runs.
func (r *Runtime) Close() {
	r.cancel()
	if r.done != nil {
		<-r.done
	}
	r.turn.lock()
	defer r.turn.unlock()
	r.informers.log.Close()
	if r.timer != nil {
		r.timer.Stop()
	}
}

// Now returns the time of the server.
func (r *Runtime) Now() time.Time { return r.clock.Now() }

// Wake makes the goroutine look for work.
func (r *Runtime) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// loop runs what is due until the Runtime is closed.
func (r *Runtime) loop() {
	defer close(r.done)
	for {
		changed, _ := r.run(r.ctx, false)
		if changed == nil {
			return
		}
		select {
		case <-changed:
		case <-r.wake:
		case <-r.ctx.Done():
			return
		}
	}
}

// Run runs all that is due: until no change of the store is undelivered and every
// queue is empty. It ends batches; other delays that end later remain. It returns a channel
// that is closed by the next change of the store, nil if the Runtime has ended.
func (r *Runtime) Run() <-chan struct{} {
	changed, _ := r.run(r.ctx, true)
	return changed
}

// RunContext is Run until ctx ends; then it returns the cause. What is left is done by
// the next call.
func (r *Runtime) RunContext(ctx context.Context) error {
	_, err := r.run(ctx, true)
	return err
}

// RunOutside is Run, unless a controller makes a request through faults at the moment.
// Then it returns false at once: the Run that is in progress does what is due. A function
// of a fault calls it.
func (r *Runtime) RunOutside() bool {
	return !r.calling.Load() && r.Run() != nil
}

// RunDue is RunContext, except that it does not end batches.
func (r *Runtime) RunDue(ctx context.Context) error {
	_, err := r.run(ctx, false)
	return err
}

// A turn is a mutex for which a goroutine can wait until a context ends: a controller may
// wait in a function of a fault, or for a webhook, for any time. In a testing/synctest
// bubble time passes while a goroutine waits for it.
type turn chan struct{}

func (t turn) lock()   { t <- struct{}{} }
func (t turn) unlock() { <-t }

// lockUntil locks unless ctx ends before.
func (t turn) lockUntil(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run is Run, RunContext and RunDue. It ends batches if endBatches is true.
func (r *Runtime) run(ctx context.Context, endBatches bool) (<-chan struct{}, error) {
	if err := r.turn.lockUntil(ctx); err != nil {
		return nil, err
	}
	defer r.turn.unlock()
	for r.ctx.Err() == nil && r.failed == nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if r.failed = r.poll(); r.failed != nil {
			break
		}
		for _, check := range r.checks {
			check()
		}
		r.addDue(r.Now())
		if len(r.ready) == 0 && endBatches && r.endBatches(r.Now()) {
			continue
		}
		if len(r.ready) == 0 {
			r.schedule()
			return r.informers.log.Wait(), nil
		}
		next := r.ready[0]
		r.ready[0] = readyKey{}
		r.ready = r.ready[1:]
		next.queue.run(next.key)
	}
	if r.failed != nil && !errors.Is(r.failed, context.Canceled) {
		r.note("controllers", "ended: "+r.failed.Error())
	}
	return nil, r.failed
}

// Next returns the next time at which there is something to do: that of the earliest
// delay, or, while informers lag, of a timer that may move a watch cache, if that is
// earlier. It returns false if there is none.
func (r *Runtime) Next() (next time.Time, ok bool) {
	r.turn.lock()
	defer r.turn.unlock()
	if len(r.delays) > 0 {
		next, ok = r.delays[0].at, true
	}
	if r.informers.lag() {
		if at, waiting := r.clock.Next(); waiting && (!ok || at.Before(next)) {
			return at, true
		}
	}
	return next, ok
}

// schedule sets a timer for the earliest delay. On a manual clock the caller of
// Advance calls Run.
func (r *Runtime) schedule() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	if len(r.delays) > 0 && !r.clock.Manual() {
		r.timer = r.clock.AfterFunc(r.delays[0].at.Sub(r.Now()), r.Wake)
	}
}

// protect calls f, and turns a panic into an error. The story of the server has a
// note of it.
func (r *Runtime) protect(controller, what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			r.note(controller, fmt.Sprintf("panic at %s: %v\n%s", what, p, debug.Stack()))
		}
	}()
	return f()
}

// note records in the story what a controller has met.
func (r *Runtime) note(controller, text string) {
	r.server.note(journal.Note{Kind: journal.Controller, Text: controller + ": " + text})
}
