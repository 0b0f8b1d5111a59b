package mvcc

import "time"

// A Revision counts the transactions of a store. An empty store is at
// revision 1; each committed transaction that changes something raises it by
// one, and all changes of that transaction carry the raised number.
//
// As an argument, 0 stands for "now"; each method says what that means to it.
type Revision int64

// An Item is one version of one key. Items are shared by every reader, view,
// event and fork: they are never changed, and neither may Value be.
type Item[V any] struct {
	Key      string
	Value    V
	Created  Revision // when the key's lifespan began: its first put since it last did not exist
	Modified Revision // when this version was put
	Version  int64    // which version this is of the lifespan, from 1
}

// EventType says what an [Event] did, and what an [Op] is to do.
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

// An Event is what one transaction did to one key.
type Event[V any] struct {
	Type EventType

	// Item is what the key became. For Delete it is a tombstone, which holds
	// the key and, as Modified, the revision of the deletion.
	Item *Item[V]

	// Prev is what the key was, nil if it did not exist.
	Prev *Item[V]
}

// A Transaction is one entry of the revision log: everything that one revision
// changed, each key once, in the order in which the transaction first touched
// them. Transactions are shared and never changed.
type Transaction[V any] struct {
	Revision Revision
	Time     time.Time // never before that of an earlier transaction
	Events   []Event[V]
}

// PrefixEnd returns the end of the range of keys that begin with prefix: those
// in [prefix, PrefixEnd(prefix)). It is "", no upper bound, for a prefix that
// is empty or all 0xff.
func PrefixEnd(prefix string) string {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return prefix[:i] + string([]byte{prefix[i] + 1})
		}
	}
	return ""
}
