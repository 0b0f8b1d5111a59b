package mvcc

import "time"

// Options configure a store. The zero value keeps the whole history, on the
// wall clock.
type Options struct {
	// Now gives each transaction its time and KeepFor its present. It is called
	// by the methods of the store, from their goroutines, and must not call
	// the store back. A clock that is set back is taken to stand still until it
	// has caught up with the newest transaction. The default is time.Now.
	Now func() time.Time

	// KeepRevisions, if positive, compacts the store to that many revisions
	// before its newest one.
	KeepRevisions int64

	// KeepFor, if positive, compacts the store to the revision it was at that
	// long ago: what was current then can still be read.
	KeepFor time.Duration
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
