package metrics

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Requests counts requests as apiserver_request_total, and how long they take as
// apiserver_request_duration_seconds. The zero value is empty. It is safe for concurrent
// use.
type Requests struct {
	mu  sync.Mutex // guards all
	all map[Request]*durations
}

// A Request is the labels of a request. All members between Code and Verb are
// zero for a request that is not for a resource: the number of paths has no
// bound.
type Request struct {
	Code                                  int
	DryRun                                bool
	Group, Version, Resource, Subresource string
	Scope                                 string // "resource", "namespace" or "cluster"
	Verb                                  string
}

// durationBounds are the upper bounds of the buckets of durations in seconds, inclusive. A
// last bucket has all that is longer.
var durationBounds = [...]float64{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60}

// durations are the durations of requests.
type durations struct {
	buckets [len(durationBounds) + 1]int64
	sum     time.Duration
}

// count returns the number of requests.
func (d *durations) count() (n int64) {
	for _, in := range d.buckets {
		n += in
	}
	return n
}

// add adds those of other requests.
func (d *durations) add(other durations) {
	for i, in := range other.buckets {
		d.buckets[i] += in
	}
	d.sum += other.sum
}

// Count counts a request that took some time.
func (r *Requests) Count(l Request, took time.Duration) {
	bucket, _ := slices.BinarySearch(durationBounds[:], took.Seconds())
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[Request]*durations{}
	}
	d := r.all[l]
	if d == nil {
		d = &durations{}
		r.all[l] = d
	}
	d.buckets[bucket]++
	d.sum += took
}

// Reset forgets all requests.
func (r *Requests) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = nil
}

// Families returns the counts and the durations, sorted by labels.
func (r *Requests) Families() []Family {
	r.mu.Lock()
	all := make(map[Request]durations, len(r.all))
	for l, d := range r.all {
		all[l] = *d
	}
	r.mu.Unlock()
	total := Family{Name: "apiserver_request_total", Type: Counter, Stability: Stable,
		Help: "Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code."}
	took := map[Request]*durations{} // by requests without a Code
	for l, d := range all {
		total.Samples = append(total.Samples, Sample{Labels: append([]string{"code", strconv.Itoa(l.Code)}, l.labels()...), Value: float64(d.count())})
		l.Code = 0
		if took[l] == nil {
			took[l] = &durations{}
		}
		took[l].add(d)
	}
	slices.SortFunc(total.Samples, func(a, b Sample) int { return slices.Compare(a.Labels, b.Labels) })
	duration := Family{Name: "apiserver_request_duration_seconds", Type: Histogram, Stability: Stable,
		Help: "Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component."}
	keys := slices.SortedFunc(maps.Keys(took), func(a, b Request) int { return slices.Compare(a.labels(), b.labels()) })
	for _, l := range keys {
		labels, d := l.labels(), took[l]
		var n int64
		for i, in := range d.buckets {
			n += in
			bound := "+Inf"
			if i < len(durationBounds) {
				bound = number(durationBounds[i])
			}
			duration.Samples = append(duration.Samples, Sample{Suffix: "_bucket", Labels: append(slices.Clone(labels), "le", bound), Value: float64(n)})
		}
		duration.Samples = append(duration.Samples, Sample{Suffix: "_sum", Labels: labels, Value: d.sum.Seconds()}, Sample{Suffix: "_count", Labels: labels, Value: float64(n)})
	}
	return []Family{duration, total}
}

// labels returns the names and values of the labels except that of the code.
func (l Request) labels() []string {
	component, dryRun := "", ""
	if l.Resource != "" {
		component = "apiserver"
	}
	if l.DryRun {
		dryRun = "All"
	}
	return []string{
		"component", component, "dry_run", dryRun, "group", l.Group, "resource", l.Resource,
		"scope", l.Scope, "subresource", l.Subresource, "verb", l.Verb, "version", l.Version,
	}
}
