package mvcc

import (
	"errors"
	"fmt"
)

var (
	// ErrCompacted is the cause of a [RevisionError] for a revision that
	// compaction has taken: one below [Store.Compacted], or, for
	// [Store.Compact], not above it.
	ErrCompacted = errors.New("mvcc: required revision has been compacted")

	// ErrFutureRevision is the cause of a [RevisionError] for a revision that
	// the store has not reached.
	ErrFutureRevision = errors.New("mvcc: required revision is a future revision")

	// ErrConflict is the cause of every [ConflictError].
	ErrConflict = errors.New("mvcc: key has been modified")

	// ErrClosed is returned by a [Watcher] after Close.
	ErrClosed = errors.New("mvcc: watcher is closed")
)

// A RevisionError reports a revision that cannot be read, watched or compacted.
type RevisionError struct {
	Err       error    // ErrCompacted or ErrFutureRevision
	Requested Revision // what the caller asked for, or the first revision a watcher is missing
	Compacted Revision // the store's compacted revision at that moment
	Current   Revision // the store's newest revision at that moment
}

func (e *RevisionError) Error() string {
	return fmt.Sprintf("%v: requested %d, compacted %d, current %d", e.Err, e.Requested, e.Compacted, e.Current)
}

// Unwrap returns the sentinel, so that errors.Is finds it.
func (e *RevisionError) Unwrap() error { return e.Err }

// A ConflictError reports the first comparison of a [Store.Commit] that failed.
type ConflictError struct {
	Key  string
	Want Revision // what the caller compared with: 0 if the key was not to exist
	Have Revision // when the key was last put: 0 if it does not exist
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v: %q is at revision %d, not %d", ErrConflict, e.Key, e.Have, e.Want)
}

// Unwrap returns [ErrConflict].
func (e *ConflictError) Unwrap() error { return ErrConflict }
