package sortedset_test

import (
	"cmp"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/sortedset"
)

func TestSet(t *testing.T) {
	empty := sortedset.New(cmp.Less[int])
	few := empty.With(nil, []int{5, 1, 3})
	more := few.With([]int{1, 2}, []int{4, 3})
	assert.Empty(t, slices.Collect(empty.All()))
	assert.Equal(t, []int{1, 3, 5}, slices.Collect(few.All()), "the original stays")
	assert.Equal(t, []int{3, 4, 5}, slices.Collect(more.All()))
	assert.Equal(t, 3, more.Len())

	_, ok := few.Get(1)
	assert.True(t, ok)
	_, ok = more.Get(1)
	assert.False(t, ok)
	first, ok := few.First(2)
	assert.True(t, ok)
	assert.Equal(t, 3, first)
	_, ok = few.First(6)
	assert.False(t, ok)
}

// TestConcurrentSets changes one set in several goroutines, which the race detector
// watches.
func TestConcurrentSets(t *testing.T) {
	var all []int
	for i := range 1000 {
		all = append(all, 2*i)
	}
	base := sortedset.New(cmp.Less[int]).With(nil, all)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := base
			for j := range 100 {
				s = s.With([]int{all[j]}, []int{2*j + 1 + 200*i})
			}
			assert.Equal(t, 1000, s.Len())
			_, ok := s.Get(201 + 200*i - 2)
			assert.True(t, ok)
		}()
	}
	wg.Wait()
	assert.Equal(t, all, slices.Collect(base.All()))
}
