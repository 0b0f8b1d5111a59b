package once_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/once"
)

func ExamplePerKey() {
	upper := once.PerKey(func(s string) string {
		fmt.Println("for", s)
		return strings.ToUpper(s)
	})
	fmt.Println(upper("a"), upper("a"), upper("b"))
	// Output:
	// for a
	// for b
	// A A B
}

func TestPerKeyConcurrent(t *testing.T) {
	var calls atomic.Int32
	begun, goOn := make(chan bool), make(chan bool)
	square := once.PerKey(func(n int) int {
		calls.Add(1)
		if n == 0 {
			close(begun)
			<-goOn
		}
		return n * n
	})
	var all sync.WaitGroup
	all.Add(1)
	go func() {
		defer all.Done()
		assert.Zero(t, square(0))
	}()
	<-begun
	assert.Equal(t, 9, square(3), "another key does not wait")
	for range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			assert.Zero(t, square(0))
		}()
	}
	close(goOn)
	all.Wait()
	assert.EqualValues(t, 2, calls.Load())
}

func TestPerKeyPanics(t *testing.T) {
	fails := once.PerKey(func(key string) int { panic("no " + key) })
	for range 2 {
		assert.PanicsWithValue(t, "no a", func() { fails("a") })
	}
}
