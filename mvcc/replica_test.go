package mvcc_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/mvcc"
)

// shown returns the values in a replica's view, by key.
func shown(r *mvcc.Replica[string]) map[string]string {
	values := make(map[string]string)
	for item := range r.View().Range("", "") {
		values[item.Key] = item.Value
	}
	return values
}

// TestLag follows this history, one transaction per second, with replicas:
//
//	2: +a  3: +b  4: +a  5: -a  6: +c
func TestLag(t *testing.T) {
	for _, row := range []struct {
		name string
		lag  mvcc.Lag
		at   mvcc.Revision
		due  time.Duration // when Due is, after the last transaction; 0 if never
	}{
		{"none", mvcc.Lag{}, 6, 0},
		{"by time", mvcc.Lag{By: 2 * time.Second}, 4, time.Second},
		{"by a fraction of a second", mvcc.Lag{By: 1500 * time.Millisecond}, 4, 500 * time.Millisecond},
		{"by more than the history", mvcc.Lag{By: time.Minute}, 1, 56 * time.Second},
		{"by revisions", mvcc.Lag{Revisions: 1}, 5, 0},
		{"by more revisions than there are", mvcc.Lag{Revisions: 100}, 1, 0},
		{"until a revision", mvcc.Lag{Until: 3}, 3, 0},
		{"until a future revision", mvcc.Lag{Until: 9}, 6, 0},
		{"frozen", mvcc.Lag{Until: -1}, 1, 0},
		{"by time and revisions until a revision", mvcc.Lag{By: 3 * time.Second, Revisions: 1, Until: 4}, 3, time.Second},
		{"by time until a revision", mvcc.Lag{By: 3 * time.Second, Until: 3}, 3, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			now := time.Unix(0, 0)
			s := mvcc.New[string](mvcc.Options{Now: func() time.Time { return now }})
			r := s.Replica()
			r.SetLag(row.lag)
			w, err := r.Watch("", 0)
			require.NoError(t, err)
			defer w.Close()
			for _, change := range []func(){
				func() { set(t, s, "a", "a2") },
				func() { set(t, s, "b", "b3") },
				func() { set(t, s, "a", "a4") },
				func() { unset(t, s, "a") },
				func() { set(t, s, "c", "c6") },
			} {
				now = now.Add(time.Second)
				change()
			}
			assert.Equal(t, row.at, r.Revision())
			assert.Equal(t, contents(t, s, row.at), shown(r))
			assert.Len(t, poll(t, w, 0), int(row.at-1))
			assert.Equal(t, row.at, w.Revision())
			assert.False(t, woken(w))

			due, ok := r.Due()
			assert.Equal(t, row.due > 0, ok)
			if ok {
				assert.Equal(t, row.due, due.Sub(now))
				now = due.Add(-1)
				r.Advance()
				assert.Equal(t, row.at, r.Revision(), "not due yet")
				now = due
				r.Advance()
				assert.Greater(t, r.Revision(), row.at)
			}
			r.SetLag(mvcc.Lag{})
			assert.Equal(t, contents(t, s, 0), shown(r))
			assert.True(t, row.at == 6 || woken(w))
			poll(t, w, 0)
			assert.Equal(t, mvcc.Revision(6), w.Revision(), "without a lag, all events are visible")
		})
	}
}

// A replica stays where it is when its lag becomes longer.
func TestLagNeverGoesBack(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	for _, value := range []string{"2", "3", "4"} {
		set(t, s, "a", value)
	}
	r := s.Replica()
	for _, lag := range []mvcc.Lag{{Revisions: 1}, {By: time.Hour}, {Until: 2}} {
		r.SetLag(lag)
		assert.Equal(t, mvcc.Revision(4), r.Revision(), "%+v", lag)
	}
	r.SetLag(mvcc.Lag{Revisions: 3})
	for range 3 {
		set(t, s, "a", "later")
		assert.Equal(t, mvcc.Revision(4), r.Revision())
	}
	set(t, s, "a", "later")
	assert.Equal(t, mvcc.Revision(5), r.Revision())
}

// A replica's view survives compaction, and so do its synced watchers, until the replica
// moves.
func TestLagAndCompaction(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	set(t, s, "a", "2")
	r := s.Replica()
	r.SetLag(mvcc.Lag{Revisions: 2})
	w, err := r.Watch("a", 0)
	require.NoError(t, err)
	defer w.Close()
	moved := r.Moved()
	for _, value := range []string{"3", "4", "5"} {
		set(t, s, "a", value)
	}
	<-moved
	assert.Equal(t, []string{"3"}, poll(t, w, 0))
	assert.False(t, woken(w))

	require.NoError(t, s.Compact(5))
	_, err = r.Watch("a", 3)
	assert.ErrorIs(t, err, mvcc.ErrCompacted)
	set(t, s, "a", "6")
	assert.Equal(t, map[string]string{"a": "3"}, shown(r), "4 is compacted, 5 is too new")
	assert.Empty(t, poll(t, w, 0), "the watcher has not missed an event yet")
	late, err := r.Watch("a", 0)
	require.NoError(t, err)
	defer late.Close()

	set(t, s, "a", "7")
	assert.Equal(t, map[string]string{"a": "5"}, shown(r))
	for _, w := range []*mvcc.Watcher[string]{w, late} {
		assert.True(t, woken(w))
		_, err = w.Poll(0)
		assert.ErrorIs(t, err, mvcc.ErrCompacted, "4 is compacted")
	}
}

// A watcher from a future revision gets no event before its replica is there.
func TestLagOfFutureWatcher(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	r := s.Replica()
	r.SetLag(mvcc.Lag{Until: -1})
	for _, value := range []string{"2", "3", "4"} {
		set(t, s, "a", value)
	}
	w, err := r.Watch("a", 4)
	require.NoError(t, err)
	defer w.Close()
	assert.Empty(t, poll(t, w, 0))
	assert.Equal(t, mvcc.Revision(3), w.Revision(), "events before 4 are not returned")
	r.Skip(3)
	assert.Empty(t, poll(t, w, 0))
	r.Skip(4)
	assert.True(t, woken(w))
	assert.Equal(t, []string{"4"}, poll(t, w, 0))
}

func TestForkOfReplica(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	r := s.Replica()
	r.SetLag(mvcc.Lag{Until: 2})
	set(t, s, "a", "2")
	set(t, s, "a", "3")
	child := s.Fork(mvcc.Options{})
	require.NoError(t, s.Compact(3))

	f := r.Fork(child)
	r.SetLag(mvcc.Lag{})
	assert.Equal(t, mvcc.Lag{Until: 2}, f.Lag())
	assert.Equal(t, map[string]string{"a": "2"}, shown(f))
	assert.Equal(t, map[string]string{"a": "3"}, shown(r))
	assert.Equal(t, mvcc.Lag{}, r.Fork(child).Lag())

	early := s.Fork(mvcc.Options{})
	set(t, s, "a", "4")
	r.SetLag(mvcc.Lag{Until: -1})
	assert.Equal(t, map[string]string{"a": "3"}, shown(r.Fork(early)), "the fork is older than the replica")
}

func ExampleReplica() {
	s := mvcc.New[string](mvcc.Options{})
	r := s.Replica()
	r.SetLag(mvcc.Lag{Revisions: 1})
	for _, value := range []string{"red", "green"} {
		s.Update(func(tx *mvcc.Txn[string]) error {
			tx.Put("light", value)
			return nil
		})
	}
	item, _ := r.View().Get("light")
	fmt.Println(item.Value)

	r.SetLag(mvcc.Lag{})
	item, _ = r.View().Get("light")
	fmt.Println(item.Value)
	// Output:
	// red
	// green
}
