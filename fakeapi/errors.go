package fakeapi

import (
	"errors"
	"net/http"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/cluster"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/mvcc"
)

// The errors of this package's functions and methods wrap one of these values
// where their documentation names it. Test for them with errors.Is.
var (
	// ErrNotFound is returned for an object, a resource or a namespace that does
	// not exist.
	ErrNotFound = registry.ErrNotFound

	// ErrCompacted is returned for a revision that is older than the kept history.
	ErrCompacted = mvcc.ErrCompacted

	// ErrFutureRevision is returned for a revision that does not exist yet.
	ErrFutureRevision = mvcc.ErrFutureRevision

	// ErrInvalidObject is returned for an object that cannot be decoded or does not
	// pass validation.
	ErrInvalidObject = errors.New("invalid object")

	// ErrInvalidOption is returned by New for an option with an invalid value.
	ErrInvalidOption = errors.New("invalid option")

	// ErrInvalidLag is returned for a negative lag, for one longer than history is
	// kept, for a resource without a watch cache, and for a revision older than
	// what the watch cache has shown.
	ErrInvalidLag = cluster.ErrInvalidLag

	// ErrNegativeDuration is returned by Clock.Advance for a negative duration.
	ErrNegativeDuration = clock.ErrNegativeDuration
)

// A kindError has the text of err and also wraps kind.
type kindError struct{ kind, err error }

func (e *kindError) Error() string { return e.err.Error() }

func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }

// objectError wraps an error of writing an object: with ErrNotFound if it is a
// 404, otherwise with ErrInvalidObject.
func objectError(err error) error {
	var st *status.Status
	if errors.Is(err, ErrNotFound) || errors.As(err, &st) && st.Code == http.StatusNotFound {
		return &kindError{ErrNotFound, err}
	}
	return &kindError{ErrInvalidObject, err}
}

// optionError wraps an error of an option's value with ErrInvalidOption, unless it
// is a faults.ErrInvalid.
func optionError(err error) error {
	if errors.Is(err, faults.ErrInvalid) {
		return err
	}
	return &kindError{ErrInvalidOption, err}
}
