package controller

import (
	"container/heap"
	"time"
)

// The back-off of AddRateLimited doubles from minBackoff to maxBackoff with each
// failure of a key, as the default rate limiter of client-go does.
const (
	minBackoff = 5 * time.Millisecond
	maxBackoff = 1000 * time.Second
)

// A Queue holds the keys of one controller that wait for a sync. A key is in it
// once. A key whose sync fails comes back after a back-off.
type Queue struct {
	runtime    *Runtime
	controller string
	sync       func(Key) error
	maxRetries int
	minBackoff time.Duration
	maxBackoff time.Duration

	queued   map[Key]struct{}
	delayed  map[Key]*delayedKey
	failures map[Key]int
}

// QueueOptions are the options of a Queue. The zero value is that of most
// controllers.
type QueueOptions struct {
	// MaxRetries is how many times in a row a failed sync is repeated; 0 is no
	// limit.
	MaxRetries int
	// MinBackoff and MaxBackoff bound the time before a failed sync is repeated; 0
	// is 5 ms and 1,000 s.
	MinBackoff, MaxBackoff time.Duration
}

// Add adds a key behind all others, unless it waits already.
func (q *Queue) Add(k Key) {
	if _, ok := q.queued[k]; ok {
		return
	}
	q.queued[k] = struct{}{}
	q.runtime.ready = append(q.runtime.ready, readyKey{q, k})
}

// AddAfter adds a key after a time on the clock. Of several times the earliest
// applies.
func (q *Queue) AddAfter(k Key, d time.Duration) {
	if d <= 0 {
		q.Add(k)
		return
	}
	q.runtime.delay(q, k, q.runtime.Now().Add(d))
}

// AddBatched adds a key after a time in which more changes may come, which its sync then
// takes together. The time ends early when a caller of RunContext waits and nothing else is
// due: on a manual clock the changes of one time are taken together.
func (q *Queue) AddBatched(k Key, d time.Duration) {
	r := q.runtime
	at := r.Now().Add(d)
	r.delay(q, k, at)
	if added := q.delayed[k]; added.at.Equal(at) && !added.batched {
		added.batched = true
		r.batches++
	}
}

// AddRateLimited adds a key after its back-off, as if a sync had failed.
func (q *Queue) AddRateLimited(k Key) {
	n := q.failures[k]
	q.failures[k]++
	d := q.maxBackoff
	if n < 60 {
		d = min(d, q.minBackoff<<n)
	}
	if d <= 0 { // the shift has overflowed
		d = q.maxBackoff
	}
	q.AddAfter(k, d)
}

// Failures returns the number of failures of a key since its last success.
func (q *Queue) Failures(k Key) int { return q.failures[k] }

// Forget ends the back-off of a key.
func (q *Queue) Forget(k Key) { delete(q.failures, k) }

// run syncs a key.
func (q *Queue) run(k Key) {
	delete(q.queued, k)
	err := q.runtime.protect(q.controller, k.String(), func() error { return q.sync(k) })
	switch {
	case err == nil:
		q.Forget(k)
	case q.maxRetries > 0 && q.failures[k] >= q.maxRetries:
		q.Forget(k)
	default:
		q.AddRateLimited(k)
	}
}

// A readyKey is a key that can be processed.
type readyKey struct {
	queue *Queue
	key   Key
}

// A delayedKey is a key that is added to its queue at a time.
type delayedKey struct {
	queue *Queue
	key   Key
	at    time.Time
	order int // of its addition, among those of the same time
	index int // in the heap

	batched bool // by AddBatched
}

// delays is a heap of delayed keys, the earliest first.
type delays []*delayedKey

func (h delays) Len() int { return len(h) }
func (h delays) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].order < h[j].order
}
func (h delays) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *delays) Push(x any) {
	d := x.(*delayedKey)
	d.index = len(*h)
	*h = append(*h, d)
}
func (h *delays) Pop() any {
	old := *h
	d := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return d
}

// delay adds a key to its queue at a time, or earlier if it was to be added earlier.
func (r *Runtime) delay(q *Queue, k Key, at time.Time) {
	if d := q.delayed[k]; d != nil {
		if at.Before(d.at) {
			d.at = at
			heap.Fix(&r.delays, d.index)
		}
		return
	}
	r.order++
	d := &delayedKey{queue: q, key: k, at: at, order: r.order}
	q.delayed[k] = d
	heap.Push(&r.delays, d)
}

// addDue adds the delayed keys that are due to their queues.
func (r *Runtime) addDue(now time.Time) {
	for len(r.delays) > 0 && !r.delays[0].at.After(now) {
		d := heap.Pop(&r.delays).(*delayedKey)
		delete(d.queue.delayed, d.key)
		if d.batched {
			r.batches--
		}
		d.queue.Add(d.key)
	}
}

// endBatches makes the keys of AddBatched due. It reports whether there were any.
func (r *Runtime) endBatches(now time.Time) bool {
	if r.batches == 0 {
		return false
	}
	for _, d := range r.delays {
		if d.batched {
			d.at = now
		}
	}
	heap.Init(&r.delays)
	return true
}
