package storage

import (
	"sync"
	"sync/atomic"
)

// maxParsed and maxParsedBytes bound the objects of a ParseCache and their size, which
// keeps objects in memory that are replaced. A full cache is cleared.
const (
	maxParsed      = 1 << 14
	maxParsedBytes = 16 << 20
)

// A ParseCache caches parsed objects. It needs no invalidation, because an Object never
// changes. Servers with the same types can share one. The zero value is empty. It is
// safe for concurrent use.
type ParseCache struct {
	parsed sync.Map // *Object to the result of its parse function
	size   atomic.Int64
	bytes  atomic.Int64
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
	if n, bytes := c.size.Add(1), c.bytes.Add(o.Size()); n > maxParsed || bytes > maxParsedBytes {
		c.parsed.Clear()
		c.size.Store(1)
		c.bytes.Store(o.Size())
	}
	c.parsed.Store(o, out)
	return out, nil
}
