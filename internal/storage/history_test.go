//go:build go1.24

package storage

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/mvcc"
)

// compactions records the calls of a CompactionObserver.
type compactions []mvcc.Revision

func (c *compactions) Compacted(rev mvcc.Revision) { *c = append(*c, rev) }

// A store compacts by bytes for all resources, and expired history is freed without
// further writes.
func TestLimits(t *testing.T) {
	const limit = 1 << 20
	c := clock.NewManual(time.Unix(0, 0))
	h := &history{t, NewStore(c, Limits{Age: time.Minute, Bytes: limit}), thing(true)}
	var seen compactions
	h.s.OnCompaction(&seen)
	grown, times := h.s.Grown(), 0
	first := h.put("ns", "a", "", "")
	for i := range 100 {
		h.put("ns", "a", strconv.Itoa(i)+strings.Repeat("x", 50_000), "")
		select {
		case <-grown:
			grown = h.s.Grown()
			times++
		default:
		}
		require.LessOrEqual(t, h.s.HistoryBytes(), int64(limit))
	}
	assert.Equal(t, 25, times, "compactions, at four versions of 100 KB, and two steps before the first")
	require.NotEmpty(t, seen)
	assert.Equal(t, h.s.Compacted(), seen[len(seen)-1])
	_, err := h.list(Query{Version: FormatVersion(first), Match: MatchExact})
	require.ErrorAs(t, err, new(*ExpiredError))
	_, err = h.s.Watch(t.Context(), h.k, Selection{}, first)
	require.ErrorAs(t, err, new(*ExpiredError))

	require.Greater(t, h.s.HistoryBytes(), int64(limit/2))
	for range 3 { // the timer was set when the history grew, and once more
		c.Advance(time.Minute)
	}
	assert.Less(t, h.s.HistoryBytes(), int64(limit/8), "one transaction is left")
	assert.Zero(t, c.Waiting(), "no timer is set for a small history")
	h.s.Close()
}

// Close stops the timer of a history.
func TestCloseStopsTimer(t *testing.T) {
	c := clock.NewManual(time.Unix(0, 0))
	h := &history{t, NewStore(c, Limits{Age: time.Minute, Bytes: 1000}), thing(false)}
	for range 10 {
		h.put("ns", "a", "1", "")
	}
	require.Equal(t, 1, c.Waiting())
	h.s.Close()
	assert.Zero(t, c.Waiting())
	h.put("ns", "a", "2", "")
	assert.Zero(t, c.Waiting())
}

// TestHistoryBytesAreMemory compares what a store counts with the heap.
func TestHistoryBytesAreMemory(t *testing.T) {
	for _, row := range []struct {
		name        string
		data, label string
		equal       bool // the versions share their text
		versions    int
	}{
		{"small", "1", "", false, 20_000},
		{"labelled", "1", "x", false, 20_000},
		{"middle", strings.Repeat("x", 1000), "x", false, 10_000},
		{"large", strings.Repeat("x", 10_000), "x", false, 1000},
		{"equal", strings.Repeat("x", 1000), "x", true, 20_000},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHistory(t, false)
			h.put("ns", "a", row.data, row.label)
			before := heapBytes()
			for i := range row.versions {
				data := row.data
				if !row.equal {
					data += strconv.Itoa(i)
				}
				h.put("ns", "a", data, row.label)
			}
			grown := float64(heapBytes() - before)
			counted := float64(h.s.HistoryBytes())
			runtime.KeepAlive(h)
			assert.InDelta(t, 1, counted/grown, 0.2, "%.0f counted, %.0f in the heap", counted, grown)
			t.Logf("%.0f bytes a version in the heap, %.0f counted", grown/float64(row.versions), counted/float64(row.versions))
		})
	}
}

func heapBytes() uint64 {
	runtime.GC()
	runtime.GC() // empties pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
