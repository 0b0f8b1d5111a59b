// Package sortedset has a sorted set whose changes make a new set.
package sortedset

import (
	"iter"
	"sync"

	"github.com/google/btree"
)

// A Set is a sorted set. It does not change and is safe for concurrent use. Sets that
// were made of one another share what is equal, so that a change and a lookup take time
// in the order of log n.
type Set[E any] struct {
	mu   sync.Mutex // held while tree is cloned; reads need no lock
	tree tree[E]
}

// A tree is a *btree.BTreeG behind an interface. Go compiles the methods of a generic
// type again in each package whose types lead to it, and most packages lead to a Set.
type tree[E any] interface {
	clone() tree[E]
	first(E) (E, bool)
	Ascend(btree.ItemIteratorG[E])
	Delete(E) (E, bool)
	Get(E) (E, bool)
	Len() int
	ReplaceOrInsert(E) (E, bool)
}

type bTree[E any] struct{ *btree.BTreeG[E] }

func (t bTree[E]) clone() tree[E] { return bTree[E]{t.Clone()} }

// first returns the first element that is not less than e.
func (t bTree[E]) first(e E) (first E, ok bool) {
	t.AscendGreaterOrEqual(e, func(found E) bool {
		first, ok = found, true
		return false
	})
	return first, ok
}

// degree gives nodes of up to 15 elements: a change copies few of them.
const degree = 8

// New returns an empty set in the order of less. Elements of which neither is less
// than the other are the same.
func New[E any](less func(a, b E) bool) *Set[E] {
	return &Set[E]{tree: bTree[E]{btree.NewG(degree, less)}}
}

// With returns the set without the elements of remove and with those of add, which
// replace the same elements of s.
func (s *Set[E]) With(remove, add []E) *Set[E] {
	s.mu.Lock()
	tree := s.tree.clone()
	s.mu.Unlock()
	for _, e := range remove {
		tree.Delete(e)
	}
	for _, e := range add {
		tree.ReplaceOrInsert(e)
	}
	return &Set[E]{tree: tree}
}

// Len returns the number of elements.
func (s *Set[E]) Len() int { return s.tree.Len() }

// Get returns the element that is the same as e, and whether there is one.
func (s *Set[E]) Get(e E) (E, bool) { return s.tree.Get(e) }

// All returns the elements in order.
func (s *Set[E]) All() iter.Seq[E] {
	return func(yield func(E) bool) { s.tree.Ascend(yield) }
}

// First returns the first element that is not less than e, and whether there is one.
func (s *Set[E]) First(e E) (first E, ok bool) { return s.tree.first(e) }
