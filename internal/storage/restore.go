package storage

import "github.com/kubefake/kubefake/mvcc"

// Restore makes the current state equal to that of another store, in one transaction
// that writes only objects that differ. A restored object gets the revision of the
// transaction as its version.
func (s *Store) Restore(to *Store) error {
	view, err := to.View(0)
	if err != nil {
		return err
	}
	_, err = s.Update(func(tx *mvcc.Txn[*Object]) error {
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
	return err
}
