package mvcc

import (
	"errors"
	"fmt"
)

var (
	// ErrCompacted is the cause of a [RevisionError] for a compacted revision: one
	// below [Store.Compacted] or, for [Store.Compact], not above it.
	ErrCompacted = errors.New("mvcc: required revision has been compacted")

	// ErrFutureRevision is the cause of a [RevisionError] for a revision that the
	// store has not reached.
	ErrFutureRevision = errors.New("mvcc: required revision is a future revision")

	// ErrClosed is returned by a closed [Watcher].
	ErrClosed = errors.New("mvcc: watcher is closed")
)

// A RevisionError reports a revision that cannot be read, watched or compacted.
type RevisionError struct {
	Err       error    // ErrCompacted or ErrFutureRevision
	Requested Revision // the caller's revision, or the first revision that a watcher misses
	Compacted Revision // of the store at that moment
	Current   Revision // of the store at that moment
}

func (e *RevisionError) Error() string {
	return fmt.Sprintf("%v: requested %d, compacted %d, current %d", e.Err, e.Requested, e.Compacted, e.Current)
}

// Unwrap returns Err.
func (e *RevisionError) Unwrap() error { return e.Err }
