package storage

import "github.com/kubefake/kubefake/mvcc"

// A Snapshot is the state of a store at a revision. It keeps its objects in memory, and
// no others.
type Snapshot struct{ view View }

// Snapshot returns the newest state. It takes constant time.
func (s *Store) Snapshot() *Snapshot { return &Snapshot{s.NewestView()} }

// Revision returns the revision of the state.
func (s *Snapshot) Revision() mvcc.Revision { return s.view.Revision() }

// Restore makes the current state equal to a snapshot, of this or another store, in one
// transaction that writes only objects that differ. A restored object gets the revision
// of its write as its version. Restore returns the revisions of the first and the last write;
// first is greater than last if there was none.
func (s *Store) Restore(to *Snapshot) (first, last mvcc.Revision, err error) {
	view := to.view
	last, err = s.Update(func(tx Txn) error {
		first = tx.Revision()
		var deleted []string
		for item := range tx.Range("", "") {
			if _, ok := view.Get(item.Key); !ok {
				deleted = append(deleted, item.Key)
			}
		}
		for _, key := range deleted {
			tx.Delete(key)
		}
		for item := range view.Range("", "") {
			if current, ok := tx.Get(item.Key); !ok || !current.Value.Same(item.Value) {
				tx.Put(item.Key, item.Value.At(tx.Revision()))
			}
		}
		return nil
	})
	return first, last, err
}
