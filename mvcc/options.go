package mvcc

import "time"

// Options configure a store. The zero value keeps the whole history and uses the wall
// clock.
type Options struct {
	// Now returns the current time. The store's methods call it in their own
	// goroutine; it must not call the store. While it returns an earlier time than
	// that of the newest transaction, new transactions get the latter. The default
	// is time.Now.
	Now func() time.Time

	// KeepRevisions, if positive, compacts the store to that many revisions
	// before its newest one.
	KeepRevisions int64

	// KeepFor, if positive, compacts the store to the revision that it was at that
	// long ago. That revision can still be read.
	KeepFor time.Duration

	// KeepBytes, if positive, bounds [Store.HistoryBytes] after each transaction,
	// unless the newest transaction alone has more. A transaction that exceeds it
	// compacts the store to the oldest revision with which the history has at most
	// three quarters of KeepBytes, or to the newest revision if there is none.
	// Compaction in steps of a quarter leaves readers of old revisions time to catch
	// up.
	KeepBytes int64

	// Grown, if not nil, is called when transactions have added a third of KeepBytes
	// to the history since the last call, and after each compaction by KeepBytes.
	// compacted is the revision of that compaction, or 0 if there was none. The transaction that grew the history calls it after its commit and
	// before the next transaction; it must not call Update, Compact or Trim.
	Grown func(compacted Revision)
}

// A Sizer is a value that knows how many bytes of memory it occupies. A store of values
// that implement it counts them in [Store.LiveBytes] and [Store.HistoryBytes]. The store
// calls Size for a version when it is put, and when it is replaced or deleted. Values that
// share memory with the next version are a [Sharer].
type Sizer interface {
	Size() int64
}

// A Sharer is a Sizer whose versions share memory. [Store.HistoryBytes] counts of a version only
// what it does not share with the next one.
type Sharer[V any] interface {
	Sizer
	// SharedWith returns how many of the bytes of Size the value shares with the one that
	// replaces it.
	SharedWith(next V) int64
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
