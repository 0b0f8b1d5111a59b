package storage

import (
	"sync"
	"sync/atomic"
)

// A derived is what was made of an object when it was first needed. It is kept with the object, and
// needs no invalidation, because an object never changes.
type derived struct {
	value any // *conversions, a *Decoded, a *message, or what Parse returned
	next  atomic.Pointer[derived]

	of           *Object
	bytes        int64       // about; 0 for conversions, which are kept as long as the object
	used         atomic.Bool // since the cache has last looked for what to drop
	older, newer *derived    // in the cache
}

// maxDerivedBytes is about how much memory the cache may occupy.
const maxDerivedBytes = 64 << 20

// A derivedCache bounds the memory of what is made of objects. What was not used for the longest time
// is dropped first.
type derivedCache struct {
	mu    sync.Mutex // guards the fields below, and changes of all lists of derived
	order derived    // the ends of the list of all: newer is the oldest, and older the newest
	bytes int64
}

// kept is that of the process: its servers share objects.
var kept derivedCache

// derivedOf returns what was made of an object and for which match returns true, or the zero value.
func derivedOf[T any](o *Object, match func(T) bool) (found T, ok bool) {
	for d := o.derived.Load(); d != nil; d = d.next.Load() {
		if v, ok := d.value.(T); ok && match(v) {
			if !d.used.Load() {
				d.used.Store(true)
			}
			return v, true
		}
	}
	return found, false
}

// keepDerived returns what derivedOf returns or, if nothing matches, the value of d, which is kept with
// the object from then on.
func keepDerived[T any](o *Object, match func(T) bool, d *derived) T {
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if found, ok := derivedOf(o, match); ok {
		return found
	}
	d.of = o
	d.next.Store(o.derived.Load())
	o.derived.Store(d)
	if d.bytes > 0 {
		kept.add(d)
	}
	return d.value.(T)
}

// add adds d and drops others while there is too much. The caller holds mu.
func (c *derivedCache) add(d *derived) {
	c.bytes += d.bytes
	c.order.linkBefore(d)
	for c.bytes > maxDerivedBytes {
		if oldest := c.order.newer; oldest.used.Swap(false) {
			oldest.unlink()
			c.order.linkBefore(oldest)
		} else {
			c.drop(oldest)
		}
	}
}

// linkBefore makes d the newest one of the list with the ends end.
func (end *derived) linkBefore(d *derived) {
	if end.newer == nil {
		end.older, end.newer = end, end
	}
	d.older, d.newer = end.older, end
	d.older.newer, end.older = d, d
}

// unlink removes d from its list, of which it keeps nothing in memory.
func (d *derived) unlink() {
	d.older.newer, d.newer.older = d.newer, d.older
	d.older, d.newer = nil, nil
}

// drop drops d. The caller holds mu.
func (c *derivedCache) drop(d *derived) {
	c.bytes -= d.bytes
	d.unlink()
	at := &d.of.derived
	for at.Load() != d {
		at = &at.Load().next
	}
	at.Store(d.next.Load())
}

// dropReplaced drops what a newer version of the object takes the place of.
func (o *Object) dropReplaced() {
	kept.mu.Lock()
	defer kept.mu.Unlock()
	for d := o.derived.Load(); d != nil; d = d.next.Load() {
		switch d.value.(type) {
		case *Decoded, *message:
			kept.drop(d)
		}
	}
}

// Parse returns parse(o.JSON()), from the cache if possible. What is returned as a T must always be
// parsed with the same function. The caller must not change the result. Errors are not cached.
func Parse[T any](o *Object, parse func([]byte) (T, error)) (T, error) {
	all := func(T) bool { return true }
	if v, ok := derivedOf(o, all); ok {
		return v, nil
	}
	v, err := parse(o.JSON())
	if err != nil {
		return v, err
	}
	return keepDerived(o, all, &derived{value: v, bytes: 2 * o.Size()}), nil
}
