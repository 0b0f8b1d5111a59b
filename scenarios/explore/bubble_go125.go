//go:build go1.25

package explore

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
)

// bubbleFor returns a function that calls another one in a testing/synctest bubble, nil if
// t cannot have one. The function returns an error if goroutines of the bubble do not
// end.
func bubbleFor(t TB) func(f func()) error {
	test, ok := t.(*testing.T)
	if !ok {
		return nil
	}
	return func(f func()) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%v%s", p, blocked())
			}
		}()
		synctest.Test(test, func(*testing.T) { f() })
		return nil
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
