package mvcc_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/mvcc"
)

// putAll puts keys, each followed by its value, in one transaction.
func putAll(s *mvcc.Store[string], keysAndValues ...string) (mvcc.Revision, error) {
	return s.Update(func(tx *mvcc.Txn[string]) error {
		for pair := range slices.Chunk(keysAndValues, 2) {
			tx.Put(pair[0], pair[1])
		}
		return nil
	})
}

// set puts one key and returns the revision.
func set(t *testing.T, s *mvcc.Store[string], key, value string) mvcc.Revision {
	t.Helper()
	rev, err := putAll(s, key, value)
	require.NoError(t, err)
	return rev
}

// unset deletes one key and returns the revision.
func unset(t *testing.T, s *mvcc.Store[string], key string) mvcc.Revision {
	t.Helper()
	rev, err := s.Update(func(tx *mvcc.Txn[string]) error {
		tx.Delete(key)
		return nil
	})
	require.NoError(t, err)
	return rev
}

// contents returns the values of a view by key.
func contents(t *testing.T, s *mvcc.Store[string], at mvcc.Revision) map[string]string {
	t.Helper()
	v, err := s.View(at)
	require.NoError(t, err)
	values := make(map[string]string)
	for item := range v.Range("", "") {
		values[item.Key] = item.Value
	}
	return values
}

func TestPrefixEnd(t *testing.T) {
	for _, row := range []struct{ name, prefix, end string }{
		{"empty", "", ""},
		{"plain", "a/", "a0"},
		{"last byte is the greatest", "a\xff", "b"},
		{"all bytes are the greatest", "\xff\xff", ""},
		{"not text", "\x00", "\x01"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.end, mvcc.PrefixEnd(row.prefix))
		})
	}
}

func TestEmptyStore(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	assert.Equal(t, mvcc.Revision(1), s.Revision())
	assert.Equal(t, mvcc.Revision(0), s.Compacted())
	assert.Empty(t, contents(t, s, 0))
	assert.Empty(t, contents(t, s, 1))
	assert.Empty(t, slices.Collect(s.Log(0)))
	_, err := s.View(2)
	assert.ErrorIs(t, err, mvcc.ErrFutureRevision)
	_, err = s.View(-1)
	assert.ErrorIs(t, err, mvcc.ErrCompacted)
	w, err := s.Watch("", 1)
	require.NoError(t, err)
	defer w.Close()
	events, err := w.Poll(0)
	assert.NoError(t, err)
	assert.Empty(t, events)
}

// TestLatest compares the reads that create no view with a view.
func TestLatest(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	for i := range 40 {
		set(t, s, fmt.Sprintf("many/%02d", i), "x")
	}
	set(t, s, "few/a", "1")
	set(t, s, "few/b", "2")
	set(t, s, "few/a", "3")
	set(t, s, "fewer", "4")
	last := unset(t, s, "many/39")

	item, ok, at := s.Latest("few/a")
	require.True(t, ok)
	assert.Equal(t, "3", item.Value)
	assert.Equal(t, last, at)
	_, ok, _ = s.Latest("many/39")
	assert.False(t, ok, "deleted")
	_, ok, _ = s.Latest("few/")
	assert.False(t, ok, "a prefix is no key")

	for _, row := range []struct {
		name, prefix string
		ok           bool
		want         []string
	}{
		{"some", "few/", true, []string{"few/a", "few/b"}},
		{"none", "none/", true, nil},
		{"ten", "many/0", true, []string{"many/00", "many/01", "many/02", "many/03", "many/04", "many/05", "many/06", "many/07", "many/08", "many/09"}},
		{"too many", "many/", false, nil},
		{"everything", "", false, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			items, ok := s.LatestFew(row.prefix)
			assert.Equal(t, row.ok, ok)
			var keys []string
			for _, item := range items {
				keys = append(keys, item.Key)
			}
			assert.Equal(t, row.want, keys)
		})
	}
}

// TestRepeatedChangesOfKey changes a key several times in a transaction. The key "old" exists before
// it, the key "new" does not.
func TestRepeatedChangesOfKey(t *testing.T) {
	type Txn = *mvcc.Txn[string]
	for _, row := range []struct {
		name    string
		do      func(tx Txn)
		events  []string
		created mvcc.Revision // of the last version; 0 if it is deleted
		version int64
	}{
		{"put and put a new key", func(tx Txn) { tx.Put("new", "1"); tx.Put("new", "2") }, []string{"PUT new 1", "PUT new 2"}, 3, 2},
		{"put and put an old key", func(tx Txn) { tx.Put("old", "1"); tx.Put("old", "2") }, []string{"PUT old 1", "PUT old 2"}, 2, 3},
		{"delete and put an old key", func(tx Txn) { tx.Delete("old"); tx.Put("old", "2") }, []string{"DELETE old ", "PUT old 2"}, 4, 1},
		{"put and delete an old key", func(tx Txn) { tx.Put("old", "1"); tx.Delete("old") }, []string{"PUT old 1", "DELETE old "}, 0, 0},
		{"delete an old key twice", func(tx Txn) { tx.Delete("old"); tx.Delete("old") }, []string{"DELETE old "}, 0, 0},
		{"put and delete a new key", func(tx Txn) { tx.Put("new", "1"); tx.Delete("new") }, []string{"PUT new 1", "DELETE new "}, 0, 0},
		{"put, delete and put a new key", func(tx Txn) { tx.Put("new", "1"); tx.Delete("new"); tx.Put("new", "2") }, []string{"PUT new 1", "DELETE new ", "PUT new 2"}, 5, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := mvcc.New[string](mvcc.Options{})
			set(t, s, "old", "0")
			rev, err := s.Update(func(tx Txn) error { row.do(tx); return nil })
			require.NoError(t, err)
			assert.Equal(t, rev, s.Revision())
			for tx := range s.Log(3) {
				assert.Equal(t, rev, tx.Revision)
				var events []string
				for i, e := range tx.Events {
					events = append(events, e.Type.String()+" "+e.Item.Key+" "+e.Item.Value)
					assert.Equal(t, mvcc.Revision(3+i), e.Revision())
					if i > 0 && tx.Events[i-1].Type == mvcc.Put {
						assert.Same(t, tx.Events[i-1].Item, e.Prev)
					}
				}
				assert.Equal(t, row.events, events)
				last := tx.Events[len(tx.Events)-1].Item
				assert.Equal(t, row.created, last.Created)
				assert.Equal(t, row.version, last.Version)
			}
		})
	}
}

// The state between two changes of a transaction can be read, once it is committed.
func TestViewInTransaction(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	set(t, s, "a", "2")
	rev, err := s.Update(func(tx *mvcc.Txn[string]) error {
		assert.Equal(t, mvcc.Revision(3), tx.Revision())
		tx.Put("a", "3")
		tx.Delete("a")
		tx.Put("b", "5")
		assert.Len(t, tx.Events(), 3)
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, mvcc.Revision(5), rev)
	for at, want := range map[mvcc.Revision]map[string]string{2: {"a": "2"}, 3: {"a": "3"}, 4: {}, 5: {"b": "5"}} {
		assert.Equal(t, want, contents(t, s, at))
	}
	for tx := range s.Log(4) {
		assert.Len(t, tx.Events, 2, "the changes from there on")
		assert.Equal(t, mvcc.Revision(4), tx.First())
	}
}

func TestUpdatePanicChangesNothing(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	var escaped *mvcc.Txn[string]
	assert.Panics(t, func() {
		_, _ = s.Update(func(tx *mvcc.Txn[string]) error {
			escaped = tx
			tx.Put("a", "1")
			panic("caller's")
		})
	})
	assert.Equal(t, mvcc.Revision(1), s.Revision())
	assert.Panics(t, func() { escaped.Put("a", "2") })
	assert.Panics(t, func() { escaped.Range("", "") })
	assert.Equal(t, mvcc.Revision(2), set(t, s, "a", "3"), "the writer lock is released")
}

func TestReadersDoNotWaitForUpdate(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	set(t, s, "a", "1")
	_, err := s.Update(func(tx *mvcc.Txn[string]) error {
		tx.Put("a", "2")
		assert.Equal(t, map[string]string{"a": "1"}, contents(t, s, 0))
		assert.Equal(t, mvcc.Revision(2), s.Revision())
		assert.Equal(t, map[string]string{"a": "1"}, contents(t, s.Fork(mvcc.Options{}), 0))
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"a": "2"}, contents(t, s, 0))
}

// TestCompact compacts copies of this history to each revision:
//
//	2: +a  3: +b  4: +a  5: -a  6: +a  7: +c
//
// Revisions 6 and 7 are one transaction.
func TestCompact(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	set(t, s, "a", "2")
	set(t, s, "b", "3")
	set(t, s, "a", "4")
	unset(t, s, "a")
	_, err := putAll(s, "a", "6", "c", "6")
	require.NoError(t, err)

	for _, row := range []struct {
		name string
		to   mvcc.Revision
		at   map[string]string // the contents at the compacted revision
		err  error
	}{
		{"below the beginning", 0, nil, mvcc.ErrCompacted},
		{"the beginning", 1, map[string]string{}, nil},
		{"the first put", 2, map[string]string{"a": "2"}, nil},
		{"another key", 3, map[string]string{"a": "2", "b": "3"}, nil},
		{"a second version", 4, map[string]string{"a": "4", "b": "3"}, nil},
		{"a tombstone", 5, map[string]string{"b": "3"}, nil},
		{"in a transaction", 6, map[string]string{"a": "6", "b": "3"}, nil},
		{"the newest", 7, map[string]string{"a": "6", "b": "3", "c": "6"}, nil},
		{"the future", 8, nil, mvcc.ErrFutureRevision},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := s.Fork(mvcc.Options{})
			err := f.Compact(row.to)
			if row.err != nil {
				assert.ErrorIs(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.to, f.Compacted())
			assert.ErrorIs(t, f.Compact(row.to), mvcc.ErrCompacted)
			_, err = f.View(row.to - 1)
			if row.to > 1 {
				assert.ErrorIs(t, err, mvcc.ErrCompacted)
			}
			assert.Equal(t, row.at, contents(t, f, row.to))
			for at := row.to; at <= 7; at++ {
				assert.Equal(t, contents(t, s, at), contents(t, f, at))
			}
			for tx := range f.Log(0) {
				assert.GreaterOrEqual(t, tx.Revision, row.to)
			}
		})
	}
}

func TestKeepRevisions(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{KeepRevisions: 2})
	for _, value := range []string{"2", "3", "4", "5"} {
		set(t, s, "a", value)
	}
	assert.Equal(t, mvcc.Revision(3), s.Compacted())
	assert.Equal(t, map[string]string{"a": "3"}, contents(t, s, 3))
	_, err := s.View(2)
	assert.ErrorIs(t, err, mvcc.ErrCompacted)
}

func TestKeepFor(t *testing.T) {
	now := time.Unix(0, 0)
	s := mvcc.New[string](mvcc.Options{Now: func() time.Time { return now }, KeepFor: 10 * time.Second})
	set(t, s, "a", "2") // at 0 s
	now = now.Add(6 * time.Second)
	set(t, s, "a", "3") // at 6 s
	assert.Equal(t, mvcc.Revision(2), s.RevisionAt(now.Add(-time.Second)))
	assert.Equal(t, mvcc.Revision(3), s.RevisionAt(now))
	behind, err := s.Watch("", 2)
	require.NoError(t, err)
	defer behind.Close()

	now = now.Add(3 * time.Second)
	assert.Equal(t, mvcc.Revision(0), s.Compacted(), "no transaction is older than ten seconds")
	now = now.Add(time.Second)
	assert.Equal(t, mvcc.Revision(2), s.Compacted(), "ten seconds ago the store was at 2")
	assert.Equal(t, map[string]string{"a": "2"}, contents(t, s, 2))
	now = now.Add(6 * time.Second)
	assert.Equal(t, mvcc.Revision(3), s.Compacted(), "without any write")
	_, err = s.View(2)
	assert.ErrorIs(t, err, mvcc.ErrCompacted)
	_, err = behind.Poll(0)
	assert.ErrorIs(t, err, mvcc.ErrCompacted)
	now = now.Add(time.Hour)
	assert.Equal(t, map[string]string{"a": "3"}, contents(t, s, 0), "the newest version never expires")
}

func TestClockSetBack(t *testing.T) {
	now := time.Unix(100, 0)
	s := mvcc.New[string](mvcc.Options{Now: func() time.Time { return now }})
	set(t, s, "a", "2")
	now = time.Unix(50, 0)
	set(t, s, "a", "3")
	now = time.Unix(150, 0)
	set(t, s, "a", "4")
	var seconds []int64
	for tx := range s.Log(0) {
		seconds = append(seconds, tx.Time.Unix())
	}
	assert.Equal(t, []int64{100, 100, 150}, seconds)
}

// A range has a key with far more versions than the other keys.
func TestManyVersionsOfOneKey(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	for _, key := range []string{"a", "b", "c"} {
		set(t, s, key, "old")
	}
	for range 1000 {
		set(t, s, "b", "new")
	}
	middle := s.Revision()
	for range 1000 {
		set(t, s, "b", "newer")
	}
	for _, key := range []string{"a", "c"} {
		unset(t, s, key)
	}
	assert.Equal(t, map[string]string{"a": "old", "b": "old", "c": "old"}, contents(t, s, 4))
	assert.Equal(t, map[string]string{"a": "old", "b": "new", "c": "old"}, contents(t, s, middle))
	assert.Equal(t, map[string]string{"b": "newer"}, contents(t, s, 0))
}

func TestLoad(t *testing.T) {
	from, to := mvcc.New[string](mvcc.Options{}), mvcc.New[string](mvcc.Options{})
	for _, value := range []string{"1", "2", "3"} {
		_, err := from.Update(func(tx *mvcc.Txn[string]) error { tx.Put("a", value); return nil })
		require.NoError(t, err)
	}
	view, err := from.View(0)
	require.NoError(t, err)
	to.Load(from.Revision(), view.Range("", ""))
	assert.Equal(t, from.Revision(), to.Revision())
	loaded, err := to.View(0)
	require.NoError(t, err)
	item, _ := loaded.Get("a")
	assert.Equal(t, &mvcc.Item[string]{Key: "a", Value: "3", Created: 2, Modified: 4, Version: 3}, item)
	_, err = to.View(from.Revision() - 1)
	assert.ErrorIs(t, err, mvcc.ErrCompacted)
	rev, err := to.Update(func(tx *mvcc.Txn[string]) error { tx.Put("a", "4"); return nil })
	require.NoError(t, err)
	assert.Equal(t, from.Revision()+1, rev)
	before, err := to.View(rev - 1)
	require.NoError(t, err)
	item, _ = before.Get("a")
	assert.Equal(t, "3", item.Value)
}
