package explore

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// A lifetime is the context of Start. It ends with its parent, or when end is called. Its error is
// [context.Canceled] for errors.Is, and ends a goroutine that asks for it without an end.
//
// A manager of controller-runtime whose context ends before its caches are synced does: its
// runnableGroup.Start (pull request kubernetes-sigs/controller-runtime#3440) asks again and again,
// and time passes in a bubble only when all goroutines wait.
type lifetime struct {
	context.Context               // the parent
	done            chan struct{} // not the parent's: what derives from a context of package context has its error
	once            sync.Once
	err             canceled
}

func newLifetime(parent context.Context) *lifetime {
	l := &lifetime{Context: parent, done: make(chan struct{})}
	context.AfterFunc(parent, l.end)
	return l
}

func (l *lifetime) end() { l.once.Do(func() { close(l.done) }) }

// Done implements [context.Context].
func (l *lifetime) Done() <-chan struct{} { return l.done }

// Err implements [context.Context].
func (l *lifetime) Err() error {
	select {
	case <-l.done:
		return &l.err
	default:
		return nil
	}
}

// canceled is the error of a lifetime.
type canceled struct{ asked atomic.Int64 }

// maxAsked is how often the goroutines of a system may ask why their context has ended.
const maxAsked = 1 << 20

func (c *canceled) Error() string { return context.Canceled.Error() }

// Is implements what [errors.Is] calls.
func (c *canceled) Is(target error) bool {
	if c.asked.Add(1) > maxAsked {
		runtime.Goexit()
	}
	return target == context.Canceled
}
