package eventratelimit

import (
	"container/list"
	"time"
)

// buckets has a bucket of tokens for each key. Beyond a number of keys, the bucket that was not
// used for the longest time is removed.
type buckets struct {
	limit limit
	byKey map[string]*list.Element
	order list.List // of *bucket; the one that was used last is at the front
}

// A bucket holds tokens. An Event takes one, and time adds them.
type bucket struct {
	key    string
	tokens float64 // at the time last
	last   time.Time
}

func newBuckets(l limit) *buckets { return &buckets{limit: l, byKey: map[string]*list.Element{}} }

// take takes a token of a key, and reports whether there was one.
func (s *buckets) take(key string, now time.Time) bool {
	at := s.byKey[key]
	if at == nil {
		at = s.add(bucket{key, float64(s.limit.Burst), now})
	}
	s.order.MoveToFront(at)
	b := at.Value.(*bucket)
	qps := float64(s.limit.QPS)
	tokens := min(float64(s.limit.Burst), b.tokens+max(0, now.Sub(b.last).Seconds())*qps) - 1
	// As in kube-apiserver, a token that comes within a nanosecond is there.
	if tokens < 0 && -tokens/qps*float64(time.Second) >= 1 {
		return false
	}
	b.tokens, b.last = tokens, now
	return true
}

// add adds a bucket as the one that was used last.
func (s *buckets) add(b bucket) *list.Element {
	at := s.order.PushFront(&b)
	s.byKey[b.key] = at
	if len(s.byKey) > s.limit.maxKeys() {
		oldest := s.order.Back()
		delete(s.byKey, oldest.Value.(*bucket).key)
		s.order.Remove(oldest)
	}
	return at
}

// addAll adds copies of all buckets of from.
func (s *buckets) addAll(from *buckets) {
	for at := from.order.Back(); at != nil; at = at.Prev() {
		s.add(*at.Value.(*bucket))
	}
}
