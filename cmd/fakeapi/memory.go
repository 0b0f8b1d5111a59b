package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/backdoor"
)

const (
	// lowMemory is the size of the heap up to which garbage is collected as seldom as
	// highPercent allows. A full history, which is 256 MiB by default, and the garbage of a
	// second fit into it.
	lowMemory = 512 << 20

	// highPercent is the GOGC of a small heap.
	highPercent = 400

	// leastRoom is the least room for garbage, so that a collection is worth its time.
	leastRoom = 64 << 20

	// largeRelease is by how many bytes the history has to shrink for its memory to
	// be returned to the operating system at once.
	largeRelease = 32 << 20
)

// manageMemory bounds the memory of the process until stop is called, unless GOGC is set. A high
// GOGC is fast as long as the heap is small; with a large one, the garbage would be a multiple of
// it.
//
// It does not set a memory limit: that counts the gaps between objects too, of which a large heap
// has so many that nothing would be left for garbage, and garbage would be collected all the time.
//
// After a compaction the heap is garbage that nothing collects while the server is
// idle. manageMemory collects it and returns it. It does not do that when the history
// shrinks by a part, as it does again and again when it has a constant size.
func manageMemory(servers []*fakeapi.Server) (stop func()) {
	stopped, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		m := memory{managed: os.Getenv("GOGC") == ""}
		for {
			history := int64(0)
			for _, srv := range servers {
				history += backdoor.Of(srv).HistoryBytes()
			}
			m.update(liveBytes(), history)
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

// boundHeap lets the heap with its garbage have low bytes until stop is called, unless GOGC is set
// or more of it is live.
func boundHeap(low int64) (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	tick, stopped := time.NewTicker(50*time.Millisecond), make(chan struct{})
	go func() {
		for {
			select {
			case <-tick.C:
				debug.SetGCPercent(gcPercent(liveBytes(), low))
			case <-stopped:
				return
			}
		}
	}()
	return func() {
		tick.Stop()
		close(stopped)
	}
}

// A memory is the state of manageMemory.
type memory struct {
	managed bool  // the process sets its GOGC
	percent int   // the GOGC; 0 if none is set
	largest int64 // the largest size of the history since memory was returned
}

// update sets the GOGC for a live heap and returns memory if the history has shrunk.
func (m *memory) update(live, history int64) {
	if percent := gcPercent(live, lowMemory); m.managed && percent != m.percent {
		m.percent = percent
		debug.SetGCPercent(percent)
	}
	if m.largest = max(m.largest, history); shrunk(m.largest, history) {
		m.largest = history
		debug.FreeOSMemory()
	}
}

// gcPercent returns the GOGC for a live heap: garbage may fill low bytes and, beside a large heap, an
// eighth of it.
func gcPercent(live, low int64) int {
	if live <= 0 {
		return highPercent
	}
	room := max(low-live, live/8, leastRoom)
	return int(min(100*room/live, highPercent))
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
