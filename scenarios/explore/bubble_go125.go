//go:build go1.25

package explore

import (
	"errors"
	"fmt"
	"regexp"
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
			bubble := ""
			defer func() {
				if p := recover(); p != nil {
					err = newRemainError(p, stacks(bubble))
				}
				ended <- err
			}()
			synctest.Test(test, func(*testing.T) {
				bubble = bubbleOf(ownStack())
				f()
			})
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

// blocked returns the stacks of the goroutines in bubbles, shortened.
func blocked() string { return shortened(stacks("")) }

// stacks returns the stacks of the goroutines in a bubble, "" for all bubbles.
func stacks(bubble string) (out []string) {
	buf := make([]byte, 1<<20)
	n := runtime.Stack(buf, true)
	for n == len(buf) && n < maxAllStacks {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	for _, stack := range strings.Split(string(buf[:n]), "\n\n") {
		if of := bubbleOf(stack); of != "" && (bubble == "" || bubble == of) {
			out = append(out, stack)
		}
	}
	return out
}

// maxAllStacks limits the stacks of all goroutines. Those that remain of runs accumulate.
const maxAllStacks = 64 << 20

// ownStack returns the stack of the calling goroutine.
func ownStack() string {
	buf := make([]byte, 1<<10)
	return string(buf[:runtime.Stack(buf, false)])
}

var bubblePattern = regexp.MustCompile(`^goroutine [0-9]+ \[.*synctest bubble ([0-9]+)`)

// bubbleOf returns the number of the bubble of the goroutine with a stack, "" if it is in none.
func bubbleOf(stack string) string {
	header, _, _ := strings.Cut(stack, "\n")
	if m := bubblePattern.FindStringSubmatch(header); m != nil {
		return m[1]
	}
	return ""
}
