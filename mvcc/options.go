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
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
