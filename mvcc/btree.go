package mvcc

import "github.com/google/btree"

// degree makes nodes of 31 to 63 entries, which keeps the tree of a million keys
// at four levels. Larger ones would be searched no faster and be dearer to copy,
// which is what a write after a read does.
const degree = 32

// A tree is a B-tree that one writer changes in place while readers walk a
// clone of it. The clone is made when a reader asks and dropped by the next
// change, so that writes without reads in between copy nothing, and reads
// without writes in between share one clone. Store.mu guards a tree; a clone
// needs no guard.
type tree[E any] struct {
	entries *btree.BTreeG[E] // nobody but the writer sees it
	clone   *btree.BTreeG[E] // equal to entries, or nil
}

func newTree[E any](less btree.LessFunc[E]) tree[E] {
	return tree[E]{entries: btree.NewG(degree, less)}
}

// snapshot returns the tree as it is now. The result must not be changed.
func (t *tree[E]) snapshot() *btree.BTreeG[E] {
	if t.clone == nil {
		t.clone = t.entries.Clone()
	}
	return t.clone
}

// fork returns an independent tree that starts out with the same entries.
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

// A liveEntry is the newest version of a key that exists. The key is repeated
// here, and below, because a search compares many keys and reads few items.
type liveEntry[V any] struct {
	key  string
	item *Item[V]
}

func liveLess[V any](a, b liveEntry[V]) bool { return a.key < b.key }

// A pastEntry is a version of a key that has been replaced or deleted.
type pastEntry[V any] struct {
	key  string
	end  Revision // when it ceased to be: it is what the key was in [item.Modified, end)
	item *Item[V]
}

func pastLess[V any](a, b pastEntry[V]) bool {
	if a.key != b.key {
		return a.key < b.key
	}
	return a.end < b.end
}

// A logEntry is one transaction of the revision log.
type logEntry[V any] struct {
	rev Revision
	tx  *Transaction[V]
}

func logLess[V any](a, b logEntry[V]) bool { return a.rev < b.rev }
