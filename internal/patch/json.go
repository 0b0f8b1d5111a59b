package patch

import (
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubefake/kubefake/internal/wire"
)

// maxOperations is the maximum number of operations in a JSON Patch.
const maxOperations = 10000

// A TooManyError is returned for a JSON Patch with more than 10,000 operations.
type TooManyError struct{ Operations int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, e.Operations)
}

// CheckJSON returns an error for each unknown and each duplicate field in the
// operations of a JSON Patch. [JSON] ignores them.
//
// Errors: *MalformedError.
func CheckJSON(patch []byte) (fieldErrors []error, err error) {
	fieldErrors, err = wire.CheckJSONPatch(patch)
	if err != nil {
		return nil, &MalformedError{"error decoding patch: " + err.Error()}
	}
	for i, e := range fieldErrors {
		fieldErrors[i] = fmt.Errorf("json patch %w", e)
	}
	return fieldErrors, nil
}

// JSON applies a JSON Patch to the JSON text of an object and returns the
// changed text. It changes neither argument.
//
// Errors: *MalformedError, *TooManyError, *InapplicableError.
//
// Differs from kube-apiserver: the library that both use panics for some
// patches, such as one that replaces the whole object without a value; here the
// patch is inapplicable.
func JSON(doc, patch []byte) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, &InapplicableError{fmt.Errorf("panic: %v", r)}
		}
	}()
	p, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, &MalformedError{err.Error()}
	}
	if len(p) > maxOperations {
		return nil, &TooManyError{len(p)}
	}
	out, err = p.Apply(doc)
	if err != nil {
		return nil, &InapplicableError{err}
	}
	return out, nil
}
