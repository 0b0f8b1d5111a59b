//go:build go1.25

package explore

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// bubbleFor returns an enclosure that calls functions in a testing/synctest bubble, nil if t
// cannot have one. It gives up a function whose bubble stands still.
func bubbleFor(t TB) enclosure {
	test, ok := t.(*testing.T)
	if !ok {
		return nil
	}
	return func(steps *stepCounter, f func()) error {
		ended := make(chan error, 1)
		go func() {
			err := errFailed
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("%v%s", p, blocked())
				}
				ended <- err
			}()
			synctest.Test(test, func(*testing.T) { f() })
			err = nil
		}()
		guard := time.NewTicker(standstill)
		defer guard.Stop()
		err := steps.watch(guard.C, ended)
		if err == errFailed {
			test.FailNow()
		}
		return err
	}
}

// errFailed is of a function that has ended its goroutine, as FailNow does.
var errFailed = errors.New("the test has failed")

const (
	// standstill is how long, in real time, a bubble may make no step while one is due.
	standstill = 30 * time.Second
	// maxIdle is how many times standstill a bubble may make no step while none is due.
	maxIdle = 6
)

// watch returns what ended sends, or an error if no turn comes between two ticks while one is
// asked for, or within maxIdle ticks.
func (c *stepCounter) watch(ticks <-chan time.Time, ended <-chan error) error {
	idle := 0
	for given := int64(-1); ; given = c.given.Load() {
		select {
		case err := <-ended:
			return err
		case <-ticks:
			if c.given.Load() != given {
				idle = 0
				continue
			}
			if !c.idle() {
				return fmt.Errorf("a goroutine waits for a mutex that another one holds during a request, see System.Unordered%s", blocked())
			}
			if idle++; idle == maxIdle {
				return fmt.Errorf("a goroutine never waits, so that no time passes%s", blocked())
			}
		}
	}
}

// maxStacks is how many bytes of the stacks of blocked goroutines a report has.
const maxStacks = 3 << 10

// blocked returns the stacks of the goroutines in bubbles.
func blocked() string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var out strings.Builder
	for _, stack := range strings.Split(string(buf), "\n\n") {
		if header, _, _ := strings.Cut(stack, "\n"); strings.Contains(header, "synctest bubble") && out.Len() < maxStacks {
			out.WriteString("\n\n" + stack)
		}
	}
	return out.String()
}
