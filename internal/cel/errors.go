package cel

import (
	"errors"

	"github.com/kubefake/kubefake/internal/validation"
)

// An InternalError is the error of an expression that passes the type check and still
// does not compile: bool("x"), for example, converts a constant that has no such value.
type InternalError struct{ detail string }

func (e *InternalError) Error() string { return e.detail }

func instantiationError(err error) error {
	return &InternalError{"program instantiation failed: " + err.Error()}
}

// Invalid returns the error of the field at path, whose value is the expression text. err
// is the reason why it does not compile.
func Invalid(path *validation.Path, text string, err error) *validation.Error {
	if internal := (*InternalError)(nil); errors.As(err, &internal) {
		return validation.Internal(path, err)
	}
	return validation.Invalid(path, text, err.Error())
}
