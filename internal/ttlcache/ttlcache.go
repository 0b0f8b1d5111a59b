// Package ttlcache caches values that expire.
package ttlcache

import (
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/lru"
)

// A Cache has values that expire, up to a number: beyond it, the value that was not used
// for the longest time is removed. It is safe for concurrent use.
type Cache[V any] struct {
	mu     sync.Mutex // guards values
	values *lru.Cache[expiring[V]]
}

type expiring[V any] struct {
	value V
	at    time.Time
}

// New returns a cache of at most max values.
func New[V any](max int) *Cache[V] { return &Cache[V]{values: lru.New[expiring[V]](max)} }

// Get returns the value of a key, or false if there is none or it has expired.
func (c *Cache[V]) Get(key string, now time.Time) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.values.Get(key)
	if ok && now.After(v.at) {
		c.values.Remove(key)
		return value, false
	}
	return v.value, ok
}

// Add sets the value of a key until ttl after now. With a ttl of 0 or less it does nothing.
func (c *Cache[V]) Add(key string, value V, now time.Time, ttl time.Duration) {
	if ttl <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values.Put(key, expiring[V]{value, now.Add(ttl)})
}
