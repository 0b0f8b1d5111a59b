package metrics

import (
	"runtime"
	"runtime/debug"
	"time"
)

// Go returns the metrics of the Go runtime: its version, goroutines, threads, memory and
// garbage collection.
func Go() []Family {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	threads, _ := runtime.ThreadCreateProfile(nil) // only their number
	all := []Family{
		{Name: "go_info", Type: Gauge, Help: "Information about the Go environment.", Samples: []Sample{{Labels: []string{"version", runtime.Version()}, Value: 1}}},
		one("go_goroutines", Gauge, "Number of goroutines that currently exist.", float64(runtime.NumGoroutine())),
		one("go_threads", Gauge, "Number of OS threads created.", float64(threads)),
		one("go_sched_gomaxprocs_threads", Gauge, "The current runtime.GOMAXPROCS setting, or the number of operating system threads that can execute user-level Go code simultaneously. Sourced from /sched/gomaxprocs:threads.", float64(runtime.GOMAXPROCS(0))),
		one("go_memstats_last_gc_time_seconds", Gauge, "Number of seconds since 1970 of last garbage collection.", float64(m.LastGC)/1e9),
		pauses(),
	}
	for _, f := range []struct {
		name  string
		typ   Type
		help  string
		value uint64
	}{
		{"go_memstats_alloc_bytes", Gauge, "Number of bytes allocated in heap and currently in use. Equals to /memory/classes/heap/objects:bytes.", m.Alloc},
		{"go_memstats_alloc_bytes_total", Counter, "Total number of bytes allocated in heap until now, even if released already. Equals to /gc/heap/allocs:bytes.", m.TotalAlloc},
		{"go_memstats_buck_hash_sys_bytes", Gauge, "Number of bytes used by the profiling bucket hash table. Equals to /memory/classes/profiling/buckets:bytes.", m.BuckHashSys},
		{"go_memstats_frees_total", Counter, "Total number of heap objects frees. Equals to /gc/heap/frees:objects + /gc/heap/tiny/allocs:objects.", m.Frees},
		{"go_memstats_gc_sys_bytes", Gauge, "Number of bytes used for garbage collection system metadata. Equals to /memory/classes/metadata/other:bytes.", m.GCSys},
		{"go_memstats_heap_alloc_bytes", Gauge, "Number of heap bytes allocated and currently in use, same as go_memstats_alloc_bytes. Equals to /memory/classes/heap/objects:bytes.", m.HeapAlloc},
		{"go_memstats_heap_idle_bytes", Gauge, "Number of heap bytes waiting to be used. Equals to /memory/classes/heap/released:bytes + /memory/classes/heap/free:bytes.", m.HeapIdle},
		{"go_memstats_heap_inuse_bytes", Gauge, "Number of heap bytes that are in use. Equals to /memory/classes/heap/objects:bytes + /memory/classes/heap/unused:bytes", m.HeapInuse},
		{"go_memstats_heap_objects", Gauge, "Number of currently allocated objects. Equals to /gc/heap/objects:objects.", m.HeapObjects},
		{"go_memstats_heap_released_bytes", Gauge, "Number of heap bytes released to OS. Equals to /memory/classes/heap/released:bytes.", m.HeapReleased},
		{"go_memstats_heap_sys_bytes", Gauge, "Number of heap bytes obtained from system. Equals to /memory/classes/heap/objects:bytes + /memory/classes/heap/unused:bytes + /memory/classes/heap/released:bytes + /memory/classes/heap/free:bytes.", m.HeapSys},
		{"go_memstats_mallocs_total", Counter, "Total number of heap objects allocated, both live and gc-ed. Semantically a counter version for go_memstats_heap_objects gauge. Equals to /gc/heap/allocs:objects + /gc/heap/tiny/allocs:objects.", m.Mallocs},
		{"go_memstats_mcache_inuse_bytes", Gauge, "Number of bytes in use by mcache structures. Equals to /memory/classes/metadata/mcache/inuse:bytes.", m.MCacheInuse},
		{"go_memstats_mcache_sys_bytes", Gauge, "Number of bytes used for mcache structures obtained from system. Equals to /memory/classes/metadata/mcache/inuse:bytes + /memory/classes/metadata/mcache/free:bytes.", m.MCacheSys},
		{"go_memstats_mspan_inuse_bytes", Gauge, "Number of bytes in use by mspan structures. Equals to /memory/classes/metadata/mspan/inuse:bytes.", m.MSpanInuse},
		{"go_memstats_mspan_sys_bytes", Gauge, "Number of bytes used for mspan structures obtained from system. Equals to /memory/classes/metadata/mspan/inuse:bytes + /memory/classes/metadata/mspan/free:bytes.", m.MSpanSys},
		{"go_memstats_next_gc_bytes", Gauge, "Number of heap bytes when next garbage collection will take place. Equals to /gc/heap/goal:bytes.", m.NextGC},
		{"go_memstats_other_sys_bytes", Gauge, "Number of bytes used for other system allocations. Equals to /memory/classes/other:bytes.", m.OtherSys},
		{"go_memstats_stack_inuse_bytes", Gauge, "Number of bytes obtained from system for stack allocator in non-CGO environments. Equals to /memory/classes/heap/stacks:bytes.", m.StackInuse},
		{"go_memstats_stack_sys_bytes", Gauge, "Number of bytes obtained from system for stack allocator. Equals to /memory/classes/heap/stacks:bytes + /memory/classes/os-stacks:bytes.", m.StackSys},
		{"go_memstats_sys_bytes", Gauge, "Number of bytes obtained from system. Equals to /memory/classes/total:byte.", m.Sys},
	} {
		all = append(all, one(f.name, f.typ, f.help, float64(f.value)))
	}
	return all
}

// pauses returns the times for which garbage collection stopped the process.
func pauses() Family {
	quantiles := []string{"0", "0.25", "0.5", "0.75", "1"}
	stats := debug.GCStats{PauseQuantiles: make([]time.Duration, len(quantiles))}
	debug.ReadGCStats(&stats)
	f := Family{Name: "go_gc_duration_seconds", Type: Summary, Help: "A summary of the wall-time pause (stop-the-world) duration in garbage collection cycles."}
	for i, q := range quantiles {
		f.Samples = append(f.Samples, Sample{Labels: []string{"quantile", q}, Value: stats.PauseQuantiles[i].Seconds()})
	}
	f.Samples = append(f.Samples, Sample{Suffix: "_sum", Value: stats.PauseTotal.Seconds()}, Sample{Suffix: "_count", Value: float64(stats.NumGC)})
	return f
}
