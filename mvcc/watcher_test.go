//go:build go1.24

package mvcc_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/mvcc"
)

func watch(t *testing.T, s *mvcc.Store[string], prefix string, from mvcc.Revision) *mvcc.Watcher[string] {
	t.Helper()
	w, err := s.Watch(prefix, from)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w
}

// poll returns the values of the next events, and "-key" for deletions.
func poll(t *testing.T, w *mvcc.Watcher[string], limit int) []string {
	t.Helper()
	events, err := w.Poll(limit)
	require.NoError(t, err)
	var values []string
	for _, e := range events {
		if e.Type == mvcc.Delete {
			values = append(values, "-"+e.Item.Key)
		} else {
			values = append(values, e.Item.Value)
		}
	}
	return values
}

func woken(w *mvcc.Watcher[string]) bool {
	select {
	case <-w.Wait():
		return true
	default:
		return false
	}
}

// TestWatchFrom watches this history from each revision:
//
//	2: +a  3: +b  4: +a  5: -a  6: +a  7: +b
//
// Revisions 6 and 7 are one transaction.
func TestWatchFrom(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	set(t, s, "a", "a2")
	set(t, s, "b", "b3")
	set(t, s, "a", "a4")
	unset(t, s, "a")
	_, err := putAll(s, "a", "a6", "b", "b6")
	require.NoError(t, err)
	require.NoError(t, s.Compact(3))

	for _, row := range []struct {
		name   string
		prefix string
		from   mvcc.Revision
		want   []string
		err    error
	}{
		{"below the compacted revision", "", 2, nil, mvcc.ErrCompacted},
		{"the compacted revision", "", 3, []string{"b3", "a4", "-a", "a6", "b6"}, nil},
		{"one key", "a", 3, []string{"a4", "-a", "a6"}, nil},
		{"a deletion", "a", 5, []string{"-a", "a6"}, nil},
		{"a transaction", "", 6, []string{"a6", "b6"}, nil},
		{"in a transaction", "", 7, []string{"b6"}, nil},
		{"no such key", "c", 3, nil, nil},
		{"now", "", 0, nil, nil},
		{"the next", "", 8, nil, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			w, err := s.Watch(row.prefix, row.from)
			if row.err != nil {
				require.ErrorIs(t, err, row.err)
				return
			}
			require.NoError(t, err)
			defer w.Close()
			assert.Equal(t, row.want, poll(t, w, 0))
			assert.Equal(t, mvcc.Revision(7), w.Revision())
			assert.False(t, woken(w))
		})
	}
}

func TestWatchFuture(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	w := watch(t, s, "a", 4)
	assert.Equal(t, mvcc.Revision(3), w.Revision(), "events before 4 are not returned")
	set(t, s, "a", "2")
	assert.Empty(t, poll(t, w, 0))
	set(t, s, "a", "3")
	require.NoError(t, s.Compact(3))
	assert.Empty(t, poll(t, w, 0))
	set(t, s, "a", "4")
	assert.True(t, woken(w))
	assert.Equal(t, []string{"4"}, poll(t, w, 0))
}

func TestPollLimit(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	w := watch(t, s, "", 0)
	set(t, s, "a", "a2")
	_, err := putAll(s, "a", "a3", "b", "b3")
	require.NoError(t, err)
	set(t, s, "a", "a4")

	assert.Equal(t, []string{"a2", "a3"}, poll(t, w, 2))
	assert.Equal(t, mvcc.Revision(3), w.Revision())
	assert.True(t, woken(w))
	assert.Equal(t, []string{"b3", "a4"}, poll(t, w, 2))
	assert.False(t, woken(w))
}

func TestWait(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	w, other := watch(t, s, "a/", 0), watch(t, s, "b/", 0)
	wait := w.Wait()
	assert.Equal(t, wait, w.Wait(), "the same channel until an event")
	set(t, s, "b/1", "2")
	assert.False(t, woken(w))
	assert.True(t, woken(other))
	assert.Equal(t, mvcc.Revision(2), w.Revision(), "changes of other keys raise the revision")
	assert.Equal(t, mvcc.Revision(1), other.Revision())
	set(t, s, "a/1", "3")
	<-wait
	assert.True(t, woken(w), "the channel stays closed until the next Poll")
	assert.Equal(t, []string{"3"}, poll(t, w, 0))
	assert.False(t, woken(w))

	set(t, s, "a/1", "4")
	assert.True(t, woken(w), "the wake-up is kept without a waiter")
	late := watch(t, s, "a/", 0)
	assert.False(t, woken(late), "a new watcher is not woken for earlier events")
}

func TestPeers(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	w, peer := watch(t, s, "a/", 0), watch(t, s, "a/", 0)
	watch(t, s, "a/b/", 0)
	watch(t, mvcc.New[string](mvcc.Options{}), "a/", 0)
	assert.Equal(t, 2, w.Peers())
	peer.Close()
	assert.Equal(t, 1, w.Peers())
	assert.Zero(t, peer.Peers())
}

// TestCompactedWatchers compacts while two watchers are synced and one is lagging.
func TestCompactedWatchers(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	synced, lagging, compacted := watch(t, s, "a", 0), watch(t, s, "b", 0), watch(t, s, "b", 0)
	for _, value := range []string{"2", "3", "4"} {
		set(t, s, "b", value)
	}
	assert.Equal(t, []string{"2"}, poll(t, lagging, 1))

	require.NoError(t, s.Compact(3))
	assert.Equal(t, []string{"3", "4"}, poll(t, lagging, 0), "events from 3 on are kept")

	assert.True(t, woken(compacted))
	for range 2 {
		_, err := compacted.Poll(0)
		var re *mvcc.RevisionError
		require.ErrorAs(t, err, &re)
		assert.Equal(t, mvcc.RevisionError{Err: mvcc.ErrCompacted, Requested: 2, Compacted: 3, Current: 4}, *re)
		assert.True(t, woken(compacted))
	}

	require.NoError(t, s.Compact(4))
	assert.Empty(t, poll(t, synced, 0), "it has missed no event")
	assert.Empty(t, poll(t, lagging, 0))
	set(t, s, "a", "5")
	set(t, s, "b", "6")
	require.NoError(t, s.Compact(5))
	assert.Equal(t, []string{"5"}, poll(t, synced, 0))
	assert.Equal(t, []string{"6"}, poll(t, lagging, 0))
}

func TestNext(t *testing.T) {
	s := mvcc.New[string](mvcc.Options{})
	w := watch(t, s, "", 0)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		events, err := w.Next(ctx)
		if assert.NoError(t, err) && assert.Len(t, events, 1) {
			assert.Equal(t, "2", events[0].Item.Value)
		}
		done <- err
		_, err = w.Next(ctx)
		done <- err
	}()
	set(t, s, "a", "2")
	require.NoError(t, <-done)
	cancel()
	assert.ErrorIs(t, <-done, context.Canceled)
	w.Close()
	_, err := w.Next(t.Context())
	assert.ErrorIs(t, err, mvcc.ErrClosed)
	assert.True(t, woken(w))
}

// Polled changes only with Poll.
func TestPolled(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := mvcc.New[string](mvcc.Options{Now: func() time.Time { return now }, KeepFor: time.Hour})
	w := watch(t, s, "a", 0)
	set(t, s, "a", "a2")
	set(t, s, "b", "b3")
	polled := func(rev mvcc.Revision, at time.Time) {
		t.Helper()
		gotRev, gotAt := w.Polled()
		assert.Equal(t, rev, gotRev)
		assert.Equal(t, at, gotAt)
	}
	poll(t, w, 1)
	polled(2, now)
	poll(t, w, 1)
	polled(3, now)

	before := now
	now = now.Add(time.Second)
	set(t, s, "a", "a4")
	polled(3, before)
	poll(t, w, 0)
	polled(4, now)
}
