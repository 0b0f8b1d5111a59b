//go:build go1.25

package mvcc_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/mvcc"
)

func TestForkIsIndependent(t *testing.T) {
	parent := mvcc.New[string](mvcc.Options{})
	set(t, parent, "a", "2")
	set(t, parent, "b", "3")
	child := parent.Fork(mvcc.Options{})
	assert.Equal(t, mvcc.Revision(3), child.Revision())

	set(t, child, "a", "child")
	unset(t, child, "b")
	set(t, parent, "c", "parent")

	assert.Equal(t, map[string]string{"a": "2", "b": "3", "c": "parent"}, contents(t, parent, 0))
	assert.Equal(t, map[string]string{"a": "child"}, contents(t, child, 0))
	for _, s := range []*mvcc.Store[string]{parent, child} {
		assert.Equal(t, map[string]string{"a": "2"}, contents(t, s, 2), "the common history")
	}

	require.NoError(t, child.Compact(4))
	assert.Equal(t, mvcc.Revision(0), parent.Compacted())
	assert.Equal(t, map[string]string{"a": "2"}, contents(t, parent, 2))
	grandchild := child.Fork(mvcc.Options{KeepRevisions: 1})
	assert.Equal(t, mvcc.Revision(4), grandchild.Compacted())
	set(t, grandchild, "d", "6")
	assert.Equal(t, mvcc.Revision(5), grandchild.Compacted(), "each fork has its own options")
	assert.Equal(t, mvcc.Revision(4), child.Compacted())
}

func TestForkWatches(t *testing.T) {
	parent := mvcc.New[string](mvcc.Options{})
	set(t, parent, "a", "2")
	before, err := parent.Watch("", 0)
	require.NoError(t, err)
	defer before.Close()
	child := parent.Fork(mvcc.Options{})
	set(t, child, "a", "3")

	events, err := before.Poll(0)
	require.NoError(t, err)
	assert.Empty(t, events, "a watcher does not see changes of a fork")

	w, err := child.Watch("a", 2)
	require.NoError(t, err)
	defer w.Close()
	events, err = w.Poll(0)
	require.NoError(t, err)
	require.Len(t, events, 2, "the events before and after the fork")
	assert.Equal(t, "2", events[0].Item.Value)
	assert.Equal(t, "3", events[1].Item.Value)
	assert.Equal(t, "2", events[1].Prev.Value)
}

// TestForksConcurrently writes, reads and forks a parent and its forks concurrently. With
// the race detector, it shows that shared nodes are never written.
func TestForksConcurrently(t *testing.T) {
	const forks, keys = 8, 300
	parent := mvcc.New[string](mvcc.Options{})
	for i := range keys {
		set(t, parent, fmt.Sprint(i), "parent")
	}
	var group sync.WaitGroup
	for n := range forks {
		child := parent.Fork(mvcc.Options{KeepRevisions: 50})
		name := fmt.Sprint("child ", n)
		group.Go(func() {
			for i := range keys {
				_, err := putAll(child, fmt.Sprint(i), name)
				if !assert.NoError(t, err) {
					return
				}
				if i%10 == 0 {
					v, err := child.View(0)
					if assert.NoError(t, err) {
						assert.Equal(t, keys, v.Count("", ""))
					}
				}
			}
		})
		set(t, parent, fmt.Sprint(n), "parent again")
	}
	group.Wait()
	for i := range keys {
		v, err := parent.View(0)
		require.NoError(t, err)
		item, ok := v.Get(fmt.Sprint(i))
		require.True(t, ok)
		assert.Contains(t, item.Value, "parent")
	}
}
