package mvcc

import "time"

// An Item is one version of a key. Items are shared by readers, views, events and
// forks. Neither an item nor its Value may be changed.
type Item[V any] struct {
	Key      string
	Value    V
	Created  Revision // the start of the key's lifespan: the put when it did not exist
	Modified Revision // when this version was put
	Version  int64    // the number of this version in the lifespan, from 1
}

// EventType is the type of an [Event].
type EventType uint8

const (
	Put EventType = iota
	Delete
)

// String returns "PUT" or "DELETE".
func (t EventType) String() string {
	if t == Delete {
		return "DELETE"
	}
	return "PUT"
}

// An Event is the change of a key: one put or one deletion of a transaction.
type Event[V any] struct {
	Type EventType

	// Item is the new version. For Delete it is a tombstone, which has only the
	// key and, as Modified, the revision of the deletion.
	Item *Item[V]

	// Prev is the previous version, nil if the key did not exist.
	Prev *Item[V]
}

// Revision returns the revision of the change.
func (e *Event[V]) Revision() Revision { return e.Item.Modified }

// A Transaction is changes that were committed together, in their order. Their revisions
// are consecutive. Transactions are shared and must not be changed.
type Transaction[V any] struct {
	Revision Revision  // of the last change
	Time     time.Time // not before that of earlier transactions
	Events   []Event[V]
}

// First returns the revision of the first change.
func (tx *Transaction[V]) First() Revision { return tx.Events[0].Revision() }

// PrefixEnd returns the end of the range of the keys with a prefix: they are in
// [prefix, PrefixEnd(prefix)). It is "", which means no upper bound, for a prefix that
// is empty or all 0xff.
func PrefixEnd(prefix string) string {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return prefix[:i] + string([]byte{prefix[i] + 1})
		}
	}
	return ""
}
