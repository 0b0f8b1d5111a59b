package storage

import "github.com/kubefake/kubefake/mvcc"

// Restore makes the present state that of another store, in one transaction
// that touches only the objects that differ. What it puts back gets the
// transaction's version.
func (s *Store) Restore(to *Store) error {
	view, err := to.View(0)
	if err != nil {
		return err
	}
	_, err = s.Update(func(tx *mvcc.Txn[*Object]) error {
		var gone []string
		for item := range tx.Range("", "") {
			if _, ok := view.Get(item.Key); !ok {
				gone = append(gone, item.Key)
			}
		}
		for _, key := range gone {
			tx.Delete(key)
		}
		for item := range view.Range("", "") {
			if now, ok := tx.Get(item.Key); !ok || !now.Value.Same(item.Value) {
				tx.Put(item.Key, item.Value.At(tx.Revision()))
			}
		}
		return nil
	})
	return err
}
