package mvcc

import (
	"hash/maphash"
	"strings"
)

// fewItems is the number of items that LatestFew returns at most.
const fewItems = 16

// recentItems and recentRanges are the numbers of keys and of ranges that a store remembers.
const (
	recentItems  = 256
	recentRanges = 128
)

// recent remembers the items and the small ranges that were read or written last, by hash,
// so that they are not searched for in the tree again. All of it is current: it keeps no
// versions in memory that were replaced or deleted. Store.mu guards it.
type recent[V any] struct {
	items  [recentItems]*Item[V]
	ranges [recentRanges]*smallRange[V]
}

// A smallRange is the keys with a prefix.
type smallRange[V any] struct {
	prefix string
	items  []*Item[V] // nil if it has more than fewItems
	more   bool
}

// A Mark stands for the items of a range at one time. It can be compared with ==.
type Mark[V any] struct{ of *smallRange[V] }

// Mark returns the mark of the keys with a prefix that ends with a slash. As long as the store
// returns the same one, none of the keys has changed: what a caller has made of the items after it
// has asked for the mark is up to date. The store forgets marks, so that another one does not mean
// that a key has changed. The zero Mark is the mark of no range.
func (s *Store[V]) Mark(prefix string) Mark[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Mark[V]{s.rangeLocked(prefix)}
}

var recentSeed = maphash.MakeSeed()

// itemSlot returns where the item of a key is remembered.
func (r *recent[V]) itemSlot(key string) **Item[V] {
	return &r.items[maphash.String(recentSeed, key)%recentItems]
}

// rangeSlot returns where the range of a prefix is remembered.
func (r *recent[V]) rangeSlot(prefix string) **smallRange[V] {
	return &r.ranges[maphash.String(recentSeed, prefix)%recentRanges]
}

// put remembers the new version of a key.
func (r *recent[V]) put(key string, item *Item[V]) {
	*r.itemSlot(key) = item
	r.forgetRanges(key)
}

// delete forgets a key.
func (r *recent[V]) delete(key string) {
	if slot := r.itemSlot(key); *slot != nil && (*slot).Key == key {
		*slot = nil
	}
	r.forgetRanges(key)
}

// forgetRanges forgets the ranges that contain a key.
func (r *recent[V]) forgetRanges(key string) {
	for i := range len(key) {
		if key[i] != '/' {
			continue
		}
		prefix := key[:i+1]
		if slot := r.rangeSlot(prefix); *slot != nil && (*slot).prefix == prefix {
			*slot = nil
		}
	}
}

// latestLocked returns the current version of a key, nil if it does not exist.
func (s *Store[V]) latestLocked(key string) *Item[V] {
	slot := s.recent.itemSlot(key)
	if *slot != nil && (*slot).Key == key {
		return *slot
	}
	e, ok := s.live.entries.Get(liveEntry[V]{key: key})
	if ok {
		*slot = e.item
	}
	return e.item
}

// rangeLocked returns the range of a prefix. A range is remembered if its prefix ends
// with a slash: the change of a key looks for such prefixes only.
func (s *Store[V]) rangeLocked(prefix string) *smallRange[V] {
	slot := s.recent.rangeSlot(prefix)
	if *slot != nil && (*slot).prefix == prefix {
		return *slot
	}
	r := &smallRange[V]{prefix: prefix}
	s.live.entries.AscendGreaterOrEqual(liveEntry[V]{key: prefix}, func(e liveEntry[V]) bool {
		if !strings.HasPrefix(e.key, prefix) {
			return false
		}
		if len(r.items) == fewItems {
			r.items, r.more = nil, true
			return false
		}
		r.items = append(r.items, e.item)
		return true
	})
	if strings.HasSuffix(prefix, "/") {
		*slot = r
	}
	return r
}
