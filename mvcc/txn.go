package mvcc

import (
	"iter"
	"slices"
	"strings"
)

// A Txn is a transaction in the making. It is for the function that [Store.Update]
// called with it, and panics once that function has returned.
//
// What a transaction does to a key is the difference it makes: several puts of
// a key are one event, with the last value; a key that exists, deleted and put
// again, has been changed and its lifespan goes on; a key that does not exist,
// put and deleted again, has not been touched.
type Txn[V any] struct {
	store   *Store[V]
	rev     Revision
	changes []Event[V]
	index   map[string]int // where a key is in changes; nil while those are few
}

// Update runs fn alone: no other transaction begins before it ends. If fn
// returns nil, what it did is committed, as one revision, which Update returns.
// If fn did nothing, nothing is committed and Update returns the revision that
// the store is at. If fn returns an error or panics, what it did is forgotten,
// and Update passes on the error.
//
// Readers do not wait for fn, and see nothing of it until it is committed. In
// fn the other methods of the store see it as it was before; calling Update,
// Commit or Compact there is a deadlock.
func (s *Store[V]) Update(fn func(tx *Txn[V]) error) (Revision, error) {
	s.writer.Lock()
	defer s.writer.Unlock()

	tx := &Txn[V]{store: s, rev: s.Revision() + 1}
	defer func() { tx.store = nil }()
	if err := fn(tx); err != nil {
		return 0, err
	}
	events := tx.Events()
	if len(events) == 0 {
		return tx.rev - 1, nil
	}
	s.commit(&Transaction[V]{Revision: tx.rev, Time: s.opts.Now(), Events: events})
	return tx.rev, nil
}

// commit makes a transaction the newest one. The caller holds writer.
func (s *Store[V]) commit(tx *Transaction[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()

	now := tx.Time
	if last, ok := s.log.entries.Max(); ok && last.tx.Time.After(now) {
		tx.Time = last.tx.Time
	}
	for _, e := range tx.Events {
		key := e.Item.Key
		if e.Type == Put {
			s.live.put(liveEntry[V]{key, e.Item})
		} else {
			s.live.delete(liveEntry[V]{key: key})
		}
		if e.Prev != nil {
			s.past.put(pastEntry[V]{key, tx.Revision, e.Prev})
		}
		// Under the same lock as the change, so that a watcher that begins to
		// wait now either finds the event in the log or is woken for it.
		s.groups.changed(key, tx.Revision)
	}
	s.log.put(logEntry[V]{tx.Revision, tx})
	s.rev = tx.Revision
	s.moved.call()

	s.expireLocked(now)
	for r := range s.lagging {
		r.advanceLocked(now)
	}
	s.trimLocked(trimPerCommit)
}

// Revision returns the revision that the changes of the transaction will have.
// No other transaction can get it, but if this one fails, the next one does.
func (tx *Txn[V]) Revision() Revision { return tx.rev }

// Events returns what the transaction has done so far. Called when it does
// nothing more, these are the events that it commits, and not to be changed.
func (tx *Txn[V]) Events() []Event[V] {
	tx.mustBeOpen()
	untouched := func(e Event[V]) bool { return e.Type == Delete && e.Prev == nil }
	if slices.ContainsFunc(tx.changes, untouched) {
		return slices.DeleteFunc(slices.Clone(tx.changes), untouched)
	}
	return tx.changes
}

// Get returns what the key is, after what the transaction has done so far, and
// whether it exists.
func (tx *Txn[V]) Get(key string) (*Item[V], bool) {
	if i, ok := tx.find(key); ok {
		return tx.changes[i].Item, tx.changes[i].Type == Put
	}
	item := tx.before(key)
	return item, item != nil
}

// Range returns the items in [from, to), as [View.Range] does, after what the
// transaction has done so far. What it does while the range is walked does not
// show in it.
func (tx *Txn[V]) Range(from, to string) iter.Seq[*Item[V]] {
	tx.mustBeOpen()
	return func(yield func(*Item[V]) bool) {
		tx.mustBeOpen()
		var own []Event[V]
		for _, e := range tx.changes {
			if e.Item.Key >= from && (to == "" || e.Item.Key < to) {
				own = append(own, e)
			}
		}
		slices.SortFunc(own, func(a, b Event[V]) int { return strings.Compare(a.Item.Key, b.Item.Key) })

		s := tx.store
		s.mu.Lock()
		live := s.live.snapshot()
		s.mu.Unlock()

		stopped := false
		// yieldOwn yields the puts among the next own changes, up to end.
		yieldOwn := func(end int) {
			for _, e := range own[:end] {
				if e.Type == Put && !stopped {
					stopped = !yield(e.Item)
				}
			}
			own = own[end:]
		}
		ascend(live, from, to, func(item *Item[V]) bool {
			n := 0
			for n < len(own) && own[n].Item.Key < item.Key {
				n++
			}
			yieldOwn(n)
			if len(own) > 0 && own[0].Item.Key == item.Key {
				yieldOwn(1)
			} else if !stopped {
				stopped = !yield(item)
			}
			return !stopped
		})
		yieldOwn(len(own))
	}
}

// Put sets the key to a value, whether or not it exists.
func (tx *Txn[V]) Put(key string, value V) {
	i, ok := tx.find(key)
	if !ok {
		i = tx.add(key)
	}
	item := &Item[V]{Key: key, Value: value, Created: tx.rev, Modified: tx.rev, Version: 1}
	if prev := tx.changes[i].Prev; prev != nil {
		item.Created, item.Version = prev.Created, prev.Version+1
		item.Key = prev.Key // one string for all versions of the key
	}
	tx.changes[i].Type, tx.changes[i].Item = Put, item
}

// Delete deletes the key and reports whether it existed.
func (tx *Txn[V]) Delete(key string) bool {
	i, ok := tx.find(key)
	if ok && tx.changes[i].Type == Delete {
		return false
	}
	if !ok {
		if tx.before(key) == nil {
			return false
		}
		i = tx.add(key)
	}
	tx.changes[i].Type = Delete
	tx.changes[i].Item = &Item[V]{Key: key, Modified: tx.rev}
	return true
}

// before returns what the key was before the transaction, nil if it did not exist.
func (tx *Txn[V]) before(key string) *Item[V] {
	s := tx.store
	s.mu.Lock()
	defer s.mu.Unlock()
	e, _ := s.live.entries.Get(liveEntry[V]{key: key})
	return e.item
}

// find returns where the key is in changes.
func (tx *Txn[V]) find(key string) (int, bool) {
	tx.mustBeOpen()
	if tx.index != nil {
		i, ok := tx.index[key]
		return i, ok
	}
	for i := range tx.changes {
		if tx.changes[i].Item.Key == key {
			return i, true
		}
	}
	return 0, false
}

// add appends a change of a key that is not in changes. The caller sets its
// Type and Item.
func (tx *Txn[V]) add(key string) int {
	const few = 8
	i := len(tx.changes)
	if i == few {
		tx.index = make(map[string]int, 2*few)
		for i := range tx.changes {
			tx.index[tx.changes[i].Item.Key] = i
		}
	}
	if tx.index != nil {
		tx.index[key] = i
	}
	tx.changes = append(tx.changes, Event[V]{Prev: tx.before(key)})
	return i
}

// mustBeOpen catches a transaction that has escaped its function: what it did
// would be lost, or change the log.
func (tx *Txn[V]) mustBeOpen() {
	if tx.store == nil {
		panic("mvcc: transaction used after its function has returned")
	}
}

// A Compare is a condition of [Store.Commit]: that the key was last put at a
// revision, or, if that is 0, that the key does not exist.
type Compare struct {
	Key      string
	Modified Revision
}

// An Op is a step of [Store.Commit].
type Op[V any] struct {
	Type  EventType // Put unless said otherwise
	Key   string
	Value V // for Put
}

// Commit is a transaction without a function: if all conditions hold, it does
// the ops in their order and returns the revision as [Store.Update] does.
// Otherwise it does nothing and returns a [ConflictError] for the first
// condition that does not hold. Deleting a key that does not exist is no error.
func (s *Store[V]) Commit(conditions []Compare, then ...Op[V]) (Revision, error) {
	return s.Update(func(tx *Txn[V]) error {
		for _, c := range conditions {
			var have Revision
			if item, ok := tx.Get(c.Key); ok {
				have = item.Modified
			}
			if have != c.Modified {
				return &ConflictError{Key: c.Key, Want: c.Modified, Have: have}
			}
		}
		for _, op := range then {
			if op.Type == Delete {
				tx.Delete(op.Key)
			} else {
				tx.Put(op.Key, op.Value)
			}
		}
		return nil
	})
}
