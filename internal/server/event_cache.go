package server

import (
	"sync"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// The limits of an eventCache. The size is that of the events and of their objects, which
// it keeps alive.
const (
	maxCachedEvents    = 256
	maxCachedEventSize = 4 << 20
)

// An eventCache has the last events in the forms other than the stored one, so that an
// event is encoded once for all watches that send it in the same form. The zero value is
// empty. It is safe for concurrent use.
type eventCache struct {
	mu     sync.Mutex
	events map[eventKey][]byte
	order  []eventKey // from the oldest to the newest
	size   int64
}

// An eventKey is all that the bytes of an event depend on.
type eventKey struct {
	typ    *resource.Type
	change storage.Change
	form   codec.Response
	rows   rowForm // of a Table
}

// get returns an event, which must not be changed. If the cache does not have it, it calls
// encode, perhaps in several goroutines at a time.
func (c *eventCache) get(key eventKey, encode func() []byte) []byte {
	c.mu.Lock()
	event, ok := c.events[key]
	c.mu.Unlock()
	if !ok {
		event = encode()
		c.put(key, event)
	}
	return event
}

// put adds an event, and removes the oldest ones while the cache is too large.
func (c *eventCache) put(key eventKey, event []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := cachedSize(key, event)
	if _, ok := c.events[key]; ok || size > maxCachedEventSize {
		return
	}
	for len(c.order) == maxCachedEvents || c.size+size > maxCachedEventSize {
		oldest := c.order[0]
		c.order[0] = eventKey{}
		c.order = c.order[1:]
		c.size -= cachedSize(oldest, c.events[oldest])
		delete(c.events, oldest)
	}
	if c.events == nil {
		c.events = make(map[eventKey][]byte)
	}
	c.events[key] = event
	c.order = append(c.order, key)
	c.size += size
}

func cachedSize(key eventKey, event []byte) int64 {
	return int64(len(event)) + key.change.Object.Size()
}
