package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

const (
	// lowMemory is the memory that the process may use before it collects garbage
	// more often than GOGC requires. A full history, which is 256 MiB by default,
	// and the garbage of a second fit into it.
	lowMemory = 512 << 20

	// largeRelease is by how many bytes the history has to shrink for its memory to
	// be returned to the operating system at once.
	largeRelease = 32 << 20
)

// manageMemory bounds the memory of the process until stop is called. A high GOGC is
// fast as long as the heap is small; with a large one, the garbage would be a multiple of
// it.
//
// After a compaction the heap is garbage that nothing collects while the server is
// idle. manageMemory collects it and returns it. It does not do that when the history
// shrinks by a part, as it does again and again when it has a constant size.
func manageMemory(srv *fakeapi.Server) (stop func()) {
	stopped, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		m := memory{limited: os.Getenv("GOMEMLIMIT") == ""}
		for {
			m.update(liveBytes(), srv.HistoryBytes())
			select {
			case <-tick.C:
			case <-stopped:
				return
			}
		}
	}()
	return func() {
		close(stopped)
		<-done
	}
}

// A memory is the state of manageMemory.
type memory struct {
	limited bool  // the process sets its memory limit
	limit   int64 // the memory limit; 0 if none is set
	largest int64 // the largest size of the history since memory was returned
}

// update sets the memory limit for a live heap and returns memory if the history has
// shrunk.
func (m *memory) update(live, history int64) {
	if limit := memoryLimit(live); m.limited && limit != m.limit {
		m.limit = limit
		debug.SetMemoryLimit(limit)
	}
	if m.largest = max(m.largest, history); shrunk(m.largest, history) {
		m.largest = history
		debug.FreeOSMemory()
	}
}

// memoryLimit returns the memory limit for a live heap: more than it by a quarter but no more
// than garbage, or by an eighth if that is more, so that a large heap is not collected all the
// time. It changes in steps.
func memoryLimit(live int64) int64 {
	const (
		step    = 16 << 20
		garbage = 160 << 20
	)
	room := max(min(live/4, garbage), live/8)
	return max(lowMemory, (live+room+step-1)/step*step)
}

// shrunk reports whether the history has shrunk by half or more, and by largeRelease.
func shrunk(from, to int64) bool { return from-to >= largeRelease && to <= from/2 }

// liveBytes returns the size of the heap after the last garbage collection.
func liveBytes() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}
