package mvcc

import (
	"iter"
	"slices"
	"strings"
)

// A Txn is a transaction in progress. It is valid only in the function that
// [Store.Update] calls with it, and panics after that.
//
// A transaction is a sequence of puts and deletions. Each of them is an event and has a
// revision, as if it was a transaction of its own, but all of them become visible at once, or
// none.
type Txn[V any] struct {
	store   *Store[V]
	rev     Revision // of the next change
	changes []Event[V]
	index   map[string]int // key to the index of its last change; nil for a few changes
	last    liveEntry[V]   // the last result of before: most writes read their key first
}

// Update calls fn with a transaction. No other transaction runs meanwhile. If fn
// returns nil, Update commits the changes and returns the revision of the last one; without
// changes it commits nothing and returns the current revision. If fn returns an error or
// panics, the changes are discarded, and Update returns the error.
//
// Readers do not wait for fn and do not see its changes before the commit. In fn, the
// other methods of the store see the state before the transaction; calling Update
// or Compact is a deadlock.
func (s *Store[V]) Update(fn func(tx *Txn[V]) error) (Revision, error) {
	s.writer.Lock()
	defer s.writer.Unlock()

	tx := &Txn[V]{store: s, rev: s.Revision() + 1}
	defer func() { tx.store = nil }()
	if err := fn(tx); err != nil {
		return 0, err
	}
	last := tx.rev - 1
	if len(tx.changes) == 0 {
		return last, nil
	}
	committed := &Transaction[V]{Revision: last, Time: s.opts.Now(), Events: tx.changes}
	var room [4]int64 // avoids an allocation
	history, live := s.eventBytes(committed.Events, room[:0])
	grown, compacted := s.commit(committed, history, live)
	if grown && s.opts.Grown != nil {
		s.opts.Grown(compacted)
	}
	return last, nil
}

// commit adds a transaction to the store, with the bytes that each event adds to the history
// and those that all add to the live values. It returns whether Options.Grown is to be called,
// and its argument. The caller holds writer.
func (s *Store[V]) commit(tx *Transaction[V], history []int64, live int64) (grown bool, compacted Revision) {
	s.mu.Lock()
	defer s.mu.Unlock()

	now := tx.Time
	if last, ok := s.log.entries.Max(); ok && last.tx.Time.After(now) {
		tx.Time = last.tx.Time
	}
	for i := range tx.Events {
		e := &tx.Events[i]
		key, rev := e.Item.Key, e.Revision()
		if e.Type == Put {
			s.live.put(liveEntry[V]{key, e.Item})
			s.recent.put(key, e.Item)
		} else {
			s.live.delete(liveEntry[V]{key: key})
			s.recent.delete(key)
		}
		if e.Prev != nil {
			s.past.put(pastEntry[V]{key, rev, e.Prev})
		}
		// This holds the same lock as the change, so that a watcher that starts to
		// wait now either finds the event in the log or is woken.
		s.groups.changed(key, rev)
		s.log.put(logEntry[V]{rev, tx, s.history.added})
		s.history.added += history[i]
	}
	s.rev = tx.Revision
	s.moved.send()
	s.liveBytes += live

	s.expireLocked(now)
	grown, compacted = s.fitLocked()
	for r := range s.lagging {
		r.advanceLocked(now)
	}
	s.trimLocked(trimPerChange * len(tx.Events))
	return grown, compacted
}

// Revision returns the revision of the next change. If the transaction fails, the next one
// begins at the same revision.
func (tx *Txn[V]) Revision() Revision { return tx.rev }

// Events returns the changes so far. If no more changes follow, these are the events
// that the transaction commits. The caller must not change them.
func (tx *Txn[V]) Events() []Event[V] {
	tx.mustBeOpen()
	return tx.changes
}

// Get returns the current version of a key in the transaction, and whether the key
// exists.
func (tx *Txn[V]) Get(key string) (*Item[V], bool) {
	item := tx.current(key)
	return item, item != nil
}

// current returns the current version of a key, nil if it does not exist.
func (tx *Txn[V]) current(key string) *Item[V] {
	i, ok := tx.find(key)
	switch {
	case !ok:
		return tx.before(key)
	case tx.changes[i].Type == Delete:
		return nil
	}
	return tx.changes[i].Item
}

// Range returns the items in [from, to), as [View.Range] does, with the changes of the
// transaction up to the start of the iteration.
func (tx *Txn[V]) Range(from, to string) iter.Seq[*Item[V]] {
	tx.mustBeOpen()
	return func(yield func(*Item[V]) bool) {
		tx.mustBeOpen()
		var changes []Event[V]
		for i, e := range tx.changes {
			if e.Item.Key < from || to != "" && e.Item.Key >= to {
				continue
			}
			if last, _ := tx.find(e.Item.Key); last == i {
				changes = append(changes, e)
			}
		}
		slices.SortFunc(changes, func(a, b Event[V]) int { return strings.Compare(a.Item.Key, b.Item.Key) })

		s := tx.store
		s.mu.Lock()
		live := s.live.snapshot()
		s.mu.Unlock()

		stopped := false
		// yieldChanges yields the puts among the next changes, up to end.
		yieldChanges := func(end int) {
			for _, e := range changes[:end] {
				if e.Type == Put && !stopped {
					stopped = !yield(e.Item)
				}
			}
			changes = changes[end:]
		}
		ascend(live, from, to, func(item *Item[V]) bool {
			n := 0
			for n < len(changes) && changes[n].Item.Key < item.Key {
				n++
			}
			yieldChanges(n)
			if len(changes) > 0 && changes[0].Item.Key == item.Key {
				yieldChanges(1)
			} else if !stopped {
				stopped = !yield(item)
			}
			return !stopped
		})
		yieldChanges(len(changes))
	}
}

// Put sets the value of a key. The key need not exist.
func (tx *Txn[V]) Put(key string, value V) {
	item := &Item[V]{Key: key, Value: value, Created: tx.rev, Modified: tx.rev, Version: 1}
	prev := tx.current(key)
	if prev != nil {
		item.Created, item.Version = prev.Created, prev.Version+1
		item.Key = prev.Key // shares one string among all versions of the key
	}
	tx.add(Event[V]{Put, item, prev})
}

// Delete deletes a key and reports whether it existed.
func (tx *Txn[V]) Delete(key string) bool {
	prev := tx.current(key)
	if prev == nil {
		return false
	}
	tx.add(Event[V]{Delete, &Item[V]{Key: prev.Key, Modified: tx.rev}, prev})
	return true
}

// before returns the version of a key before the transaction, nil if it did not exist.
func (tx *Txn[V]) before(key string) *Item[V] {
	if key == "" || tx.last.key != key {
		s := tx.store
		s.mu.Lock()
		defer s.mu.Unlock()
		tx.last = liveEntry[V]{key, s.latestLocked(key)}
	}
	return tx.last.item
}

// find returns the index of the last change of a key.
func (tx *Txn[V]) find(key string) (int, bool) {
	tx.mustBeOpen()
	if tx.index != nil {
		i, ok := tx.index[key]
		return i, ok
	}
	for i := len(tx.changes) - 1; i >= 0; i-- {
		if tx.changes[i].Item.Key == key {
			return i, true
		}
	}
	return 0, false
}

// add adds a change at the revision of the transaction.
func (tx *Txn[V]) add(e Event[V]) {
	const few = 8
	if len(tx.changes) == few {
		tx.index = make(map[string]int, 2*few)
		for i := range tx.changes {
			tx.index[tx.changes[i].Item.Key] = i
		}
	}
	if tx.index != nil {
		tx.index[e.Item.Key] = len(tx.changes)
	}
	tx.changes = append(tx.changes, e)
	tx.rev++
}

// mustBeOpen panics if the function of the transaction has returned: a change would be
// lost or would change the log.
func (tx *Txn[V]) mustBeOpen() {
	if tx.store == nil {
		panic("mvcc: transaction used after its function has returned")
	}
}
