package eventratelimit

import (
	"time"

	"github.com/kubefake/kubefake/internal/lru"
)

// buckets has a bucket of tokens for each key.
type buckets struct {
	limit limit
	byKey *lru.Cache[bucket]
}

// A bucket holds tokens. An Event takes one, and time adds them.
type bucket struct {
	tokens float64 // at the time last
	last   time.Time
}

func newBuckets(l limit) *buckets { return &buckets{l, lru.New[bucket](l.maxKeys())} }

// take takes a token of a key, and reports whether there was one.
func (s *buckets) take(key string, now time.Time) bool {
	b, ok := s.byKey.Get(key)
	if !ok {
		b = bucket{float64(s.limit.Burst), now}
	}
	qps := float64(s.limit.QPS)
	tokens := min(float64(s.limit.Burst), b.tokens+max(0, now.Sub(b.last).Seconds())*qps) - 1
	// As in kube-apiserver, a token that comes within a nanosecond is there.
	taken := tokens >= 0 || -tokens/qps*float64(time.Second) < 1
	if taken {
		b = bucket{tokens, now}
	}
	s.byKey.Put(key, b)
	return taken
}

// addAll adds all buckets of from.
func (s *buckets) addAll(from *buckets) {
	for key, b := range from.byKey.All() {
		s.byKey.Put(key, b)
	}
}
