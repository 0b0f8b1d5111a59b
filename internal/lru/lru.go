// Package lru has a cache of a bounded number of values.
package lru

import (
	"container/list"
	"iter"
)

// A Cache has values up to a number: beyond it, the value that was not used for the longest time is
// removed. It is not safe for concurrent use.
type Cache[V any] struct {
	max     int
	entries map[string]*list.Element
	order   list.List // of *entry[V]; the one that was used last is at the front
}

type entry[V any] struct {
	key   string
	value V
}

// New returns a cache of at most max values.
func New[V any](max int) *Cache[V] { return &Cache[V]{max: max, entries: map[string]*list.Element{}} }

// Get returns the value of a key, which it uses. ok is false if there is none.
func (c *Cache[V]) Get(key string) (value V, ok bool) {
	at := c.entries[key]
	if at == nil {
		return value, false
	}
	c.order.MoveToFront(at)
	return at.Value.(*entry[V]).value, true
}

// Put sets the value of a key, and uses it.
func (c *Cache[V]) Put(key string, value V) {
	if at := c.entries[key]; at != nil {
		at.Value.(*entry[V]).value = value
		c.order.MoveToFront(at)
		return
	}
	c.entries[key] = c.order.PushFront(&entry[V]{key, value})
	if len(c.entries) > c.max {
		c.Remove(c.order.Back().Value.(*entry[V]).key)
	}
}

// Remove removes the value of a key, if there is one.
func (c *Cache[V]) Remove(key string) {
	if at := c.entries[key]; at != nil {
		delete(c.entries, key)
		c.order.Remove(at)
	}
}

// Len returns the number of values.
func (c *Cache[V]) Len() int { return len(c.entries) }

// All returns the keys with their values; the one that was used last is the last.
func (c *Cache[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for at := c.order.Back(); at != nil; at = at.Prev() {
			if e := at.Value.(*entry[V]); !yield(e.key, e.value) {
				return
			}
		}
	}
}
