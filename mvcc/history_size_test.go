package mvcc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/mvcc"
)

// A blob is a value of a size.
type blob int64

func (b blob) Size() int64 { return int64(b) }

// TestKeepBytes replaces a value of 744 bytes, so that each revision but the first adds
// 1000 bytes to the history:
//
//	revision      2    3    4    5    6
//	added       256 1000 1000 1000 1000
//
// Revision 6 exceeds the 4000 bytes that are kept. Compaction to revision 4 leaves three
// quarters of them.
func TestKeepBytes(t *testing.T) {
	type call struct{ at, compacted mvcc.Revision }
	var calls []call
	var s *mvcc.Store[blob]
	s = mvcc.New[blob](mvcc.Options{KeepBytes: 4000, Grown: func(compacted mvcc.Revision) {
		calls = append(calls, call{s.Revision(), compacted})
	}})
	var sizes []int64
	for range 5 {
		put(t, s, "a", 744)
		sizes = append(sizes, s.HistoryBytes())
	}
	assert.Equal(t, []int64{256, 1256, 2256, 3256, 3000}, sizes)
	assert.Equal(t, []call{{4, 0}, {6, 4}}, calls)
	_, err := s.View(3)
	require.ErrorIs(t, err, mvcc.ErrCompacted)
	_, err = s.Watch("", 3)
	require.ErrorIs(t, err, mvcc.ErrCompacted)
	_, err = s.View(4)
	require.NoError(t, err)
}

// A twin is a value of 700 bytes that shares 600 of them with the next version, if that is a
// twin of it.
type twin int

func (twin) Size() int64 { return 700 }

func (v twin) SharedWith(next twin) int64 {
	if v != next {
		return 0
	}
	return 600
}

func TestHistoryOfSharers(t *testing.T) {
	s := mvcc.New[twin](mvcc.Options{})
	for _, row := range []struct {
		name          string
		write         func(tx *mvcc.Txn[twin])
		history, live int64 // what the write adds
	}{
		{"the first version", func(tx *mvcc.Txn[twin]) { tx.Put("a", 1) }, 256, 700},
		{"a version that shares", func(tx *mvcc.Txn[twin]) { tx.Put("a", 1) }, 356, 0},
		{"a version that shares nothing", func(tx *mvcc.Txn[twin]) { tx.Put("a", 2) }, 956, 0},
		{"a deletion", func(tx *mvcc.Txn[twin]) { tx.Delete("a") }, 956, -700},
	} {
		history, live := s.HistoryBytes(), s.LiveBytes()
		_, err := s.Update(func(tx *mvcc.Txn[twin]) error {
			row.write(tx)
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, row.history, s.HistoryBytes()-history, row.name)
		assert.Equal(t, row.live, s.LiveBytes()-live, row.name)
	}
}

// TestKeepBytesOfOneTransaction shows that the newest transaction is kept however large
// it is, and that what it ended is removed with the next one.
func TestKeepBytesOfOneTransaction(t *testing.T) {
	s := mvcc.New[blob](mvcc.Options{KeepBytes: 1000})
	put := func(value blob) {
		put(t, s, "a", value)
	}
	put(1 << 20)
	assert.EqualValues(t, 256, s.HistoryBytes(), "the newest version is not history")
	put(1)
	assert.EqualValues(t, 256+1<<20, s.HistoryBytes())
	assert.EqualValues(t, 3, s.Compacted())
	put(1)
	assert.EqualValues(t, 257, s.HistoryBytes())
	assert.EqualValues(t, 4, s.Compacted())
}

// TestKeepBytesOfFork shows that a fork has the size of its parent's history and a limit
// of its own.
func TestKeepBytesOfFork(t *testing.T) {
	parent := mvcc.New[blob](mvcc.Options{})
	put := func(s *mvcc.Store[blob]) {
		put(t, s, "a", 744)
	}
	for range 10 {
		put(parent)
	}
	child := parent.Fork(mvcc.Options{KeepBytes: 4000})
	assert.EqualValues(t, 9256, child.HistoryBytes())
	put(child)
	assert.EqualValues(t, 4000, child.HistoryBytes(), "the memory of compacted history is freed as far as needed")
	child.Trim()
	assert.EqualValues(t, 3000, child.HistoryBytes())
	assert.EqualValues(t, 9256, parent.HistoryBytes())
	assert.EqualValues(t, 0, parent.Compacted())
}

func TestLoadSizes(t *testing.T) {
	from, to := mvcc.New[blob](mvcc.Options{}), mvcc.New[blob](mvcc.Options{})
	put(t, from, "a", 700)
	put(t, from, "b", 50)
	put(t, to, "a", 1)
	put(t, to, "a", 2)
	count := func() int {
		view, err := to.View(0)
		require.NoError(t, err)
		return to.Count(view, "", "")
	}
	require.Equal(t, 1, count())
	view, err := from.View(0)
	require.NoError(t, err)
	to.Load(from.Revision(), view.Range("", ""))
	assert.Equal(t, int64(750), to.LiveBytes())
	assert.Equal(t, 2, count(), "the counts of the former contents are forgotten")
	put(t, to, "b", 30)
	assert.Equal(t, int64(730), to.LiveBytes())
}
