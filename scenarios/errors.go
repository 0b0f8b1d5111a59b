package scenarios

import (
	"errors"
	"fmt"
)

var (
	// ErrVersion is the cause of a [ParseError] for a file in a version of the
	// format other than [Version].
	ErrVersion = errors.New("unsupported version of the scenario format")

	// ErrNotReplayable is returned by [NewReplayer] for a scenario without
	// complete answers: a request has no want, or want has only a part of the
	// body.
	ErrNotReplayable = errors.New("the scenario cannot be replayed")

	// ErrNotUpdatable is returned by [File.Update] if the results cannot be
	// written into the file.
	ErrNotUpdatable = errors.New("the file cannot be updated")

	// ErrUnreachable ends a [StateRecording] whose server could not be reached for
	// StateOptions.Retry.
	ErrUnreachable = errors.New("the server is unreachable")

	// ErrUnknownResource is returned by [RecordState] for a resource that the
	// server does not serve for list and watch.
	ErrUnknownResource = errors.New("the server has no such resource that can be listed and watched")

	// ErrInvalidOption is returned by [NewReenactment] for an option with an invalid
	// value.
	ErrInvalidOption = errors.New("invalid option")
)

// A ParseError reports a scenario file with an error.
type ParseError struct {
	File     string
	Document int // from 1
	Err      error
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("%s: document %d: %v", e.File, e.Document, e.Err)
}

// Unwrap returns the cause.
func (e *ParseError) Unwrap() error { return e.Err }
