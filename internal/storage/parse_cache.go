package storage

import (
	"sync"
	"sync/atomic"
)

// maxParsed bounds the size of a ParseCache. A full cache is cleared.
const maxParsed = 1 << 14

// A ParseCache caches parsed objects. It needs no invalidation, because an Object never
// changes. Servers with the same types can share one. The zero value is empty. It is
// safe for concurrent use.
type ParseCache struct {
	parsed sync.Map // *Object to the result of its parse function
	size   atomic.Int64
}

// Parse returns parse(o.JSON()), from the cache if possible. Objects of a type must
// always be parsed with the same function. The caller must not change the result.
// Errors are not cached.
func Parse[T any](c *ParseCache, o *Object, parse func([]byte) (T, error)) (T, error) {
	if v, ok := c.parsed.Load(o); ok {
		return v.(T), nil
	}
	out, err := parse(o.JSON())
	if err != nil {
		return out, err
	}
	if c.size.Add(1) > maxParsed {
		c.parsed.Clear()
		c.size.Store(1)
	}
	c.parsed.Store(o, out)
	return out, nil
}
