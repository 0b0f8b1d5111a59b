package storage

import (
	"fmt"

	"github.com/kubefake/kubefake/mvcc"
)

// A TooLargeError says that a read asked for a version that the store has not
// reached.
type TooLargeError struct {
	Requested uint64
	Current   mvcc.Revision
	// Waited tells that the read waited for the version before it gave up.
	Waited bool
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("Too large resource version: %d, current: %d", e.Requested, e.Current)
}

// An ExpiredError says that a read asked for a version that is compacted.
type ExpiredError struct {
	// Continue goes on after the page that the expired token meant, at the
	// newest version; "" if the read had no continue token.
	Continue string
}

func (e *ExpiredError) Error() string {
	if e.Continue != "" {
		return "The provided continue parameter is too old to display a consistent list result." +
			" You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results." +
			" Continuing with the provided token results in an inconsistent list" +
			" - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list."
	}
	return "The resourceVersion for the provided list is too old."
}

// A ConversionError says that an object cannot be shown, or stored, in another
// version.
type ConversionError struct{ Err error }

func (e *ConversionError) Error() string { return e.Err.Error() }

func (e *ConversionError) Unwrap() error { return e.Err }

// A VersionError says that a resourceVersion is no number.
type VersionError struct {
	Value string
	Err   error
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("resourceVersion: Invalid value: %q: %v", e.Value, e.Err)
}

func (e *VersionError) Unwrap() error { return e.Err }

// A ContinueError says what is wrong with a continue token, or with using one
// here.
type ContinueError struct{ Message string }

func (e *ContinueError) Error() string { return e.Message }
