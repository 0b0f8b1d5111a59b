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
//
// It is an interface because Go compiles the methods of a generic type again in each package
// whose types lead to it, and most packages lead to a Set.
type Set[E any] interface {
	// With returns the set without the elements of remove and with those of add, which
	// replace the same elements.
	With(remove, add []E) Set[E]

	// Len returns the number of elements.
	Len() int

	// Get returns the element that is the same as e, and whether there is one.
	Get(e E) (E, bool)

	// First returns the first element that is not less than e, and whether there is one.
	First(e E) (E, bool)

	// All returns the elements in order.
	All() iter.Seq[E]
}

// A set implements Set.
type set[E any] struct {
	mu   sync.Mutex // held while tree is cloned; reads need no lock
	tree *btree.BTreeG[E]
}

// degree gives nodes of up to 15 elements: a change copies few of them.
const degree = 8

// New returns an empty set in the order of less. Elements of which neither is less
// than the other are the same.
func New[E any](less func(a, b E) bool) Set[E] {
	return &set[E]{tree: btree.NewG(degree, less)}
}

func (s *set[E]) With(remove, add []E) Set[E] {
	s.mu.Lock()
	tree := s.tree.Clone()
	s.mu.Unlock()
	for _, e := range remove {
		tree.Delete(e)
	}
	for _, e := range add {
		tree.ReplaceOrInsert(e)
	}
	return &set[E]{tree: tree}
}

func (s *set[E]) Len() int { return s.tree.Len() }

func (s *set[E]) Get(e E) (E, bool) { return s.tree.Get(e) }

func (s *set[E]) First(e E) (first E, ok bool) {
	s.tree.AscendGreaterOrEqual(e, func(found E) bool {
		first, ok = found, true
		return false
	})
	return first, ok
}

func (s *set[E]) All() iter.Seq[E] {
	return func(yield func(E) bool) { s.tree.Ascend(yield) }
}
