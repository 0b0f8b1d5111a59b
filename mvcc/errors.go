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

	// ErrConflict is the cause of every [ConflictError].
	ErrConflict = errors.New("mvcc: key has been modified")

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

// A ConflictError reports the first condition of a [Store.Commit] that was false.
type ConflictError struct {
	Key  string
	Want Revision // the revision in the condition; 0 if the key must not exist
	Have Revision // when the key was last put; 0 if it does not exist
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v: %q is at revision %d, not %d", ErrConflict, e.Key, e.Have, e.Want)
}

// Unwrap returns [ErrConflict].
func (e *ConflictError) Unwrap() error { return ErrConflict }
