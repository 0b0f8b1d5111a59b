//go:build go1.25

package clock_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/clock"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func fired(t *clock.Timer) bool {
	select {
	case <-t.C:
		return true
	default:
		return false
	}
}

func TestManual(t *testing.T) {
	c := clock.NewManual(start)
	assert.True(t, c.Manual())
	assert.Equal(t, start, c.Now())

	due, now, stopped := c.After(10*time.Second), c.After(0), c.After(5*time.Second)
	stopped.Stop()
	assert.True(t, fired(now), "a timer of no duration fires at once")

	c.Advance(9 * time.Second)
	assert.False(t, fired(due), "it is due a second later")
	c.Advance(time.Second)
	assert.True(t, fired(due), "it fires at the exact time")
	assert.False(t, fired(stopped), "a stopped timer never fires")
	assert.Equal(t, start.Add(10*time.Second), c.Now())

	due.Stop()
	assert.ErrorIs(t, c.Advance(-1), clock.ErrNegativeDuration)
}

func TestRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.New()
		began := c.Now()
		assert.False(t, c.Manual())

		due := c.After(time.Minute)
		defer due.Stop()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		assert.False(t, fired(due))

		c.Advance(20 * time.Second)
		assert.Equal(t, 50*time.Second, c.Now().Sub(began), "Advance adds to the time that passed")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.True(t, fired(due), "30 s and 10 s passed, 20 s were skipped")

		skipped := c.After(time.Hour)
		c.Advance(time.Hour)
		assert.True(t, fired(skipped))
	})
}

func TestFork(t *testing.T) {
	parent := clock.NewManual(start)
	parent.Advance(time.Minute)
	fork := parent.Fork()
	assert.Equal(t, parent.Now(), fork.Now())

	waiting := parent.After(time.Second)
	fork.Advance(time.Hour)
	assert.False(t, fired(waiting), "advancing a fork does not advance its parent")
	assert.Equal(t, time.Hour, fork.Now().Sub(parent.Now()))

	synctest.Test(t, func(t *testing.T) {
		running := clock.New()
		running.Advance(time.Hour)
		assert.Equal(t, running.Now(), running.Fork().Now(), "a fork of a running clock has its offset")
	})
}

// Advance calls the functions, which may use the clock.
func TestAfterFunc(t *testing.T) {
	c := clock.NewManual(start)
	var calls []string
	call := func(name string) func() {
		return func() { calls = append(calls, name+" "+c.Now().Format(time.TimeOnly)) }
	}
	c.AfterFunc(2*time.Second, call("second"))
	c.AfterFunc(time.Second, call("first"))
	c.AfterFunc(3*time.Second, call("stopped")).Stop()
	c.AfterFunc(time.Minute, call("late"))
	c.AfterFunc(time.Second, func() { c.AfterFunc(time.Second, call("next")) })
	c.Advance(5 * time.Second)
	assert.Equal(t, []string{"first 03:04:10", "second 03:04:10"}, calls)
	c.Advance(time.Second)
	assert.Equal(t, "next 03:04:11", calls[2])
	assert.Len(t, calls, 3)

	synctest.Test(t, func(t *testing.T) {
		running := clock.New()
		fired := make(chan time.Time)
		began := running.Now()
		running.AfterFunc(time.Minute, func() { fired <- running.Now() })
		assert.Equal(t, time.Minute, (<-fired).Sub(began))
	})
	synctest.Test(t, func(t *testing.T) {
		due := make(chan struct{})
		clock.NewManual(start).AfterFunc(0, func() { close(due) })
		<-due
	})
}

// A timer of At for a time that has passed fires without an Advance.
func TestAt(t *testing.T) {
	c := clock.NewManual(start)
	fired := make(chan struct{})
	c.At(start, func() { close(fired) })
	<-fired
	n := 0
	c.At(start.Add(time.Second), func() { n++ })
	c.Advance(time.Second - 1)
	assert.Zero(t, n)
	c.Advance(1)
	assert.Equal(t, 1, n)
}

func TestUntil(t *testing.T) {
	c := clock.NewManual(start)
	<-c.Until(start).C
	timer := c.Until(start.Add(time.Second))
	defer timer.Stop()
	c.Advance(time.Second - 1)
	assert.Equal(t, 1, c.Waiting())
	c.Advance(1)
	<-timer.C
}

func TestEvery(t *testing.T) {
	c := clock.NewManual(start)
	calls := 0
	var ticker *clock.Ticker
	ticker = c.Every(time.Minute, func() {
		if calls++; calls == 4 {
			ticker.Stop()
		}
	})
	for _, row := range []struct {
		advance time.Duration
		calls   int
	}{
		{59 * time.Second, 0},
		{time.Second, 1},
		{time.Minute, 2},
		{10 * time.Minute, 3},
		{59 * time.Second, 3},
		{time.Second, 4},
		{time.Hour, 4},
	} {
		c.Advance(row.advance)
		assert.Equal(t, row.calls, calls)
	}
	ticker.Stop()
	assert.Panics(t, func() { c.Every(0, func() {}) })

	synctest.Test(t, func(t *testing.T) {
		calls := make(chan struct{})
		ticker := clock.New().Every(time.Minute, func() { calls <- struct{}{} })
		defer ticker.Stop()
		began := time.Now()
		for range 3 {
			<-calls
		}
		assert.Equal(t, 3*time.Minute, time.Since(began))
	})
}

func TestNever(t *testing.T) {
	n := clock.Never()
	assert.False(t, fired(n))
	n.Stop()
}

func TestWithTimeout(t *testing.T) {
	c := clock.NewManual(start)
	ctx, cancel := c.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	released, release := c.WithTimeout(t.Context(), time.Minute)
	release()
	assert.Equal(t, context.Canceled, context.Cause(released))
	c.Advance(time.Minute - 1)
	assert.NoError(t, ctx.Err())
	c.Advance(1)
	<-ctx.Done()
	assert.Equal(t, context.DeadlineExceeded, context.Cause(ctx))
	assert.Zero(t, c.Waiting())
}

func TestWithDeadline(t *testing.T) {
	c := clock.NewManual(start)
	ctx, cancel := c.WithDeadline(t.Context(), start.Add(time.Minute))
	defer cancel()
	require.NoError(t, c.Advance(time.Minute))
	<-ctx.Done()
	assert.Equal(t, context.DeadlineExceeded, context.Cause(ctx))

	late, cancel := c.WithDeadline(t.Context(), start)
	defer cancel()
	<-late.Done()
	assert.Zero(t, c.Waiting())
}

func TestDeadline(t *testing.T) {
	c := clock.NewManual(start)
	_, ok := clock.Deadline(t.Context())
	assert.False(t, ok)
	outer, cancel := c.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sooner, cancel := c.WithTimeout(outer, time.Second)
	defer cancel()
	later, cancel := c.WithTimeout(outer, time.Hour)
	defer cancel()
	for _, row := range []struct {
		name string
		ctx  context.Context
		want time.Duration
	}{{"outer", outer, time.Minute}, {"sooner", sooner, time.Second}, {"later", later, time.Minute}} {
		at, ok := clock.Deadline(row.ctx)
		assert.True(t, ok, row.name)
		assert.Equal(t, start.Add(row.want), at, row.name)
	}
}

func ExampleClock_Advance() {
	c := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	noon := c.After(12 * time.Hour)
	c.Advance(12 * time.Hour)
	<-noon.C
	fmt.Println(c.Now().Format(time.TimeOnly))
	// Output: 12:00:00
}

func TestNext(t *testing.T) {
	c := clock.NewManual(start)
	_, ok := c.Next()
	assert.False(t, ok)
	first := c.After(time.Minute)
	c.After(time.Hour)
	at, ok := c.Next()
	assert.True(t, ok)
	assert.Equal(t, start.Add(time.Minute), at)
	first.Stop()
	at, _ = c.Next()
	assert.Equal(t, start.Add(time.Hour), at)
}

func TestWaiting(t *testing.T) {
	c := clock.NewManual(start)
	assert.Zero(t, c.Waiting())
	stopped := c.After(time.Second)
	c.After(time.Second)
	c.After(time.Minute)
	c.After(0)
	assert.Equal(t, 3, c.Waiting())
	stopped.Stop()
	assert.Equal(t, 2, c.Waiting())
	c.Advance(time.Second)
	assert.Equal(t, 1, c.Waiting())
}
