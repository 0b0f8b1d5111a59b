// Package ttlcache caches values that expire.
package ttlcache

import (
	"container/list"
	"sync"
	"time"
)

// A Cache has values that expire, up to a number: beyond it, the value that was not used
// for the longest time is removed. It is safe for concurrent use.
type Cache[V any] struct {
	now func() time.Time
	max int

	mu      sync.Mutex // guards what follows
	entries map[string]*list.Element
	order   list.List // of *entry[V]; the one that was used last is at the front
}

type entry[V any] struct {
	key     string
	value   V
	expires time.Time
}

// New returns a cache of at most max values, which expire by now.
func New[V any](now func() time.Time, max int) *Cache[V] {
	return &Cache[V]{now: now, max: max, entries: map[string]*list.Element{}}
}

// Get returns the value of a key, or false if there is none or it has expired.
func (c *Cache[V]) Get(key string) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.entries[key]
	if at == nil {
		return value, false
	}
	e := at.Value.(*entry[V])
	if c.now().After(e.expires) {
		c.remove(at)
		return value, false
	}
	c.order.MoveToFront(at)
	return e.value, true
}

// Add sets the value of a key for a time. With a time of 0 or less it does nothing.
func (c *Cache[V]) Add(key string, value V, ttl time.Duration) {
	if ttl <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.entries[key]; at != nil {
		c.remove(at)
	}
	if len(c.entries) >= c.max {
		c.remove(c.order.Back())
	}
	c.entries[key] = c.order.PushFront(&entry[V]{key, value, c.now().Add(ttl)})
}

func (c *Cache[V]) remove(at *list.Element) {
	delete(c.entries, at.Value.(*entry[V]).key)
	c.order.Remove(at)
}
