//go:build go1.25

package storage

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/mvcc"
)

// Reads and watches never go back, and a frozen cache does not show later writes, while
// the lag changes concurrently.
func TestLagUnderLoad(t *testing.T) {
	h := newHistory(t, false)
	h.put("ns", "a", "0", "")
	ctx, stop := context.WithCancel(t.Context())
	var frozen atomic.Int64 // the first revision that must not be visible; 0 if the cache is not frozen
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			last := mvcc.Revision(0)
			for ctx.Err() == nil {
				first := frozen.Load()
				page, err := h.list(Query{Version: "0"})
				if !assert.NoError(t, err) {
					return
				}
				assert.GreaterOrEqual(t, page.Revision, last, "a read went back")
				last = page.Revision
				if first != 0 && frozen.Load() == first {
					assert.Less(t, int64(page.Revision), first, "a read of a frozen cache saw a later write")
				}
			}
		})
		readers.Go(func() {
			after := h.s.CachedRevision(h.k)
			w, err := h.s.Watch(ctx, h.k, Selection{}, after)
			if !assert.NoError(t, err) {
				return
			}
			defer w.Close()
			for ctx.Err() == nil {
				first := frozen.Load()
				changes, err := w.Poll(3)
				assert.NoError(t, err)
				for _, c := range changes {
					assert.Equal(t, after+1, c.Revision, "a change is missing, or came twice")
					after = c.Revision
				}
				if first != 0 && frozen.Load() == first {
					assert.Less(t, int64(after), first, "a watch of a frozen cache saw a later write")
				}
				if len(changes) == 0 {
					select {
					case <-w.Wait():
					case <-ctx.Done():
					}
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		lag := []mvcc.Lag{{Until: -1}, {Revisions: 3}, {}}[random.IntN(3)]
		require.NoError(t, h.s.SetLag(h.k, lag))
		if lag.Until != 0 {
			frozen.Store(int64(h.s.Revision() + 1))
		}
		for range random.IntN(5) {
			h.put("ns", "a", fmt.Sprint(i), "")
		}
		frozen.Store(0)
	}
	stop()
	readers.Wait()
}

// Timers advance a cache with a lag in time, until the store is closed.
func TestLagTimers(t *testing.T) {
	c := clock.NewManual(time.Unix(0, 0))
	s := NewStore(c, Limits{Age: time.Hour})
	h := &history{t, s, thing(false)}
	h.put("ns", "a", "1", "")
	require.NoError(t, s.SetLag(nil, mvcc.Lag{By: 10 * time.Second}))
	shows := func(want string) {
		t.Helper()
		assert.Equal(t, want, h.names(Query{Version: "0"}))
	}
	shows("a=1")
	for _, row := range []struct {
		wait time.Duration
		put  string // written after the wait, if not ""
		want string // visible then
	}{
		{5 * time.Second, "2", "a=1"},
		{3 * time.Second, "3", "a=1"},
		{7 * time.Second, "", "a=2"},
		{3 * time.Second, "", "a=3"},
		{time.Minute, "4", "a=3"},
		{10 * time.Second, "5", "a=4"},
		{time.Hour, "", "a=5"},
	} {
		c.Advance(row.wait)
		if row.put != "" {
			h.put("ns", "a", row.put, "")
		}
		shows(row.want)
	}

	h.put("ns", "a", "6", "")
	w, err := s.Watch(t.Context(), h.k, Selection{}, s.CachedRevision(h.k))
	require.NoError(t, err)
	defer w.Close()
	s.Close()
	c.Advance(time.Minute)
	shows("a=5") // Close has stopped the timers
}

func TestLags(t *testing.T) {
	h := newHistory(t, false)
	rev := h.put("ns", "a", "1", "")
	three := mvcc.Lag{Revisions: 3}
	other := thing(false)
	other.Prefix = "/others/"
	for _, row := range []struct {
		name string
		do   func() error
		want []CacheLag
	}{
		{"none", func() error { return nil }, []CacheLag{}},
		{"one", func() error { return h.s.SetLag(h.k, three) }, []CacheLag{{"/things/", three, rev}}},
		{"two", func() error { return h.s.SetLag(other, mvcc.Lag{Revisions: 1}) }, []CacheLag{{"/others/", mvcc.Lag{Revisions: 1}, rev}, {"/things/", three, rev}}},
		{"all", func() error { return h.s.SetLag(nil, three) }, []CacheLag{{"", three, rev}}},
		{"all but one", func() error { return h.s.SetLag(other, mvcc.Lag{}) }, []CacheLag{{"", three, rev}, {"/others/", mvcc.Lag{}, rev}}},
		{"none again", func() error { return h.s.SetLag(nil, mvcc.Lag{}) }, []CacheLag{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.NoError(t, row.do())
			assert.Equal(t, row.want, h.s.Lags())
			assert.Equal(t, len(row.want) > 0, h.s.caches.lagging.Load())
		})
	}
	uncached := thing(true)
	assert.ErrorIs(t, h.s.SetLag(uncached, three), ErrUncached)
	require.NoError(t, h.s.SetLag(nil, mvcc.Lag{Until: -1}))
	h.put("ns", "a", "2", "")
	page, err := h.s.List(t.Context(), uncached, Query{Version: "0"})
	require.NoError(t, err)
	assert.Equal(t, "a=2", names(page), "a resource without a watch cache does not lag")
}
