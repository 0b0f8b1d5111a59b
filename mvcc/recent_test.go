package mvcc

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRecent reads and writes more keys and ranges than a store remembers, and compares
// what Latest and LatestFew return with a view. A range whose mark is that of another time has the
// items of that time.
func TestRecent(t *testing.T) {
	s := New[int](Options{})
	random := rand.New(rand.NewPCG(5, 6))
	folder := func() string { return fmt.Sprintf("/%d/%d/", random.IntN(3), random.IntN(2*recentRanges)) }
	key := func() string { return folder() + fmt.Sprint(random.IntN(4)) }
	type marked struct {
		mark  Mark[int]
		items []*Item[int]
	}
	marks := map[string]marked{}
	check := func(t *testing.T) {
		t.Helper()
		view, err := s.View(0)
		require.NoError(t, err)
		for range 20 {
			key := key()
			want, wantOK := view.Get(key)
			item, ok, _ := s.Latest(key)
			require.Same(t, want, item, key)
			require.Equal(t, wantOK, ok, key)
			for _, prefix := range []string{folder(), "/1/", "/9/", "/"} {
				items, ok := s.LatestFew(prefix)
				want := slices.Collect(view.Range(prefix, PrefixEnd(prefix)))
				require.Equal(t, len(want) <= fewItems, ok, prefix)
				if ok {
					require.Equal(t, want, items, prefix)
				}
				if before, mark := marks[prefix], s.Mark(prefix); before.mark == mark {
					require.Equal(t, before.items, want, prefix)
				} else {
					marks[prefix] = marked{mark, want}
				}
			}
		}
	}
	for range 500 {
		_, err := s.Update(func(tx *Txn[int]) error {
			for range random.IntN(8) {
				if random.IntN(3) == 0 {
					tx.Delete(key())
				} else {
					tx.Put(key(), random.Int())
				}
			}
			return nil
		})
		require.NoError(t, err)
		check(t)
	}
	s.Load(s.Revision()+1, func() iter.Seq[*Item[int]] {
		view, err := s.View(0)
		require.NoError(t, err)
		return func(yield func(*Item[int]) bool) {
			for item := range view.Range("/1/", "/2/") {
				if !yield(&Item[int]{Key: item.Key, Value: -item.Value, Modified: item.Modified}) {
					return
				}
			}
		}
	}())
	check(t)
}

func TestMark(t *testing.T) {
	s := New[int](Options{})
	put := func(key string) {
		t.Helper()
		_, err := s.Update(func(tx *Txn[int]) error {
			tx.Put(key, 1)
			return nil
		})
		require.NoError(t, err)
	}
	for i := range 2 * fewItems {
		put(fmt.Sprint("/a/", i))
	}
	mark := s.Mark("/a/")
	put("/b/1")
	require.True(t, mark == s.Mark("/a/"))
	put("/a/1")
	require.False(t, mark == s.Mark("/a/"))
	require.False(t, s.Mark("/a/") == s.Fork(Options{}).Mark("/a/"))
}
