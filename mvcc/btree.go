package mvcc

import "github.com/google/btree"

// degree gives nodes of 31 to 63 entries, so that a tree of a million keys has four
// levels. Larger nodes are not searched faster, and a write after a read copies nodes.
const degree = 32

// A tree is a B-tree that one writer changes in place while readers walk a clone. A
// reader creates the clone if there is none, and the next change drops it, so writes
// without reads in between copy nothing, and reads without writes in between share one
// clone. Store.mu guards a tree; a clone needs no lock.
type tree[E any] struct {
	entries *btree.BTreeG[E] // used only by the writer
	clone   *btree.BTreeG[E] // equal to entries, or nil
}

func newTree[E any](less btree.LessFunc[E]) tree[E] {
	return tree[E]{entries: btree.NewG(degree, less)}
}

// snapshot returns the current tree. It must not be changed.
func (t *tree[E]) snapshot() *btree.BTreeG[E] {
	if t.clone == nil {
		t.clone = t.entries.Clone()
	}
	return t.clone
}

// fork returns an independent copy of the tree.
func (t *tree[E]) fork() tree[E] {
	return tree[E]{entries: t.entries.Clone()}
}

func (t *tree[E]) put(e E) {
	t.clone = nil
	t.entries.ReplaceOrInsert(e)
}

func (t *tree[E]) delete(e E) {
	t.clone = nil
	t.entries.Delete(e)
}

func (t *tree[E]) deleteMin() {
	t.clone = nil
	t.entries.DeleteMin()
}

// A liveEntry is the newest version of a key that exists. It repeats the key, as
// pastEntry does, because a search compares many keys and reads few items.
type liveEntry[V any] struct {
	key  string
	item *Item[V]
}

func liveLess[V any](a, b liveEntry[V]) bool { return a.key < b.key }

// A pastEntry is a version of a key that was replaced or deleted.
type pastEntry[V any] struct {
	key  string
	end  Revision // when the version was replaced or deleted: it is valid in [item.Modified, end)
	item *Item[V]
}

func pastLess[V any](a, b pastEntry[V]) bool {
	if a.key != b.key {
		return a.key < b.key
	}
	return a.end < b.end
}

// A logEntry is a change in the log, and its transaction.
type logEntry[V any] struct {
	rev    Revision
	tx     *Transaction[V]
	before int64 // historySize.added before the change
}

// event returns the change.
func (e *logEntry[V]) event() *Event[V] { return &e.tx.Events[e.rev-e.tx.First()] }

func logLess[V any](a, b logEntry[V]) bool { return a.rev < b.rev }
