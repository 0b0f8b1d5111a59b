package metrics

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestEncode(t *testing.T) {
	assert.Equal(t, `# HELP a [BETA] Help.
# TYPE a gauge
a 1
a{x="\"\\\n"} 2
a{x="1",y="2"} 3e+09
# HELP b More.
# TYPE b summary
b_sum 0.5
`, string(Encode(
		Family{Name: "b", Type: Summary, Help: "More.", Samples: []Sample{{Suffix: "_sum", Value: 0.5}}},
		Family{Name: "a", Type: Gauge, Stability: Beta, Help: "Help.", Samples: []Sample{{Value: 1}, {Labels: []string{"x", "\"\\\n"}, Value: 2}, {Labels: []string{"x", "1", "y", "2"}, Value: 3e9}}},
		Family{Name: "c", Type: Counter, Help: "Nothing."},
	)))
}

func TestRequests(t *testing.T) {
	var r Requests
	assert.Empty(t, r.Families()[1].Samples)
	pods := Request{Code: 201, DryRun: true, Version: "v1", Resource: "pods", Scope: "resource", Verb: "POST"}
	r.Count(pods, 5*time.Millisecond)
	r.Count(pods, 2*time.Minute)
	pods.Code = 409
	r.Count(pods, 6*time.Millisecond)
	labels := []string{"component", "apiserver", "dry_run", "All", "group", "", "resource", "pods", "scope", "resource", "subresource", "", "verb", "POST", "version", "v1"}
	f := r.Families()
	assert.Equal(t, []Sample{
		{Labels: append([]string{"code", "201"}, labels...), Value: 2},
		{Labels: append([]string{"code", "409"}, labels...), Value: 1},
	}, f[1].Samples)
	buckets, sums := f[0].Samples[:len(durationBounds)+1], f[0].Samples[len(durationBounds)+1:]
	assert.Equal(t, Sample{Suffix: "_bucket", Labels: append(slices.Clone(labels), "le", "0.005"), Value: 1}, buckets[0])
	assert.Equal(t, 2.0, buckets[1].Value)
	assert.Equal(t, 2.0, buckets[len(durationBounds)-1].Value)
	assert.Equal(t, Sample{Suffix: "_bucket", Labels: append(slices.Clone(labels), "le", "+Inf"), Value: 3}, buckets[len(durationBounds)])
	assert.InDelta(t, 120.011, sums[0].Value, 1e-9)
	assert.Equal(t, Sample{Suffix: "_count", Labels: labels, Value: 3}, sums[1])
}

func TestValues(t *testing.T) {
	vec := &Vec{Name: "v", Type: Counter, Labels: []string{"a", "b"}, Initial: [][]string{{"x", ""}, {"y", ""}}}
	var v Values
	v.Add(vec, "x", "")
	v.Add(vec, "x", "")
	v.Set(vec, 7, "", "z")
	assert.Equal(t, Family{Name: "v", Type: Counter, Samples: []Sample{
		{Labels: []string{"a", "", "b", "z"}, Value: 7}, {Labels: []string{"a", "x", "b", ""}, Value: 2}, {Labels: []string{"a", "y", "b", ""}},
	}}, v.Family(vec))
	(*Values)(nil).Add(vec, "x", "")
}

// The metrics of the process and of the runtime are in the text of both.
func TestProcessAndGo(t *testing.T) {
	text := string(Encode(append(Process(time.Unix(5, 0)), Go()...)...))
	names := []string{"process_start_time_seconds 5\n", "go_goroutines ", "go_gc_duration_seconds_count ", "go_memstats_alloc_bytes "}
	if runtime.GOOS == "linux" {
		names = append(names, "process_cpu_seconds_total ", "process_open_fds ", "process_max_fds ", "process_resident_memory_bytes ", "process_virtual_memory_max_bytes ")
	}
	for _, name := range names {
		assert.Contains(t, text, "\n"+name)
	}
}
