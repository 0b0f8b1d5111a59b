package patch

import (
	"errors"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubefake/kubefake/internal/wire"
)

// CheckMerge looks for mistakes in a JSON Merge Patch that Merge overlooks: it
// returns an error for each duplicate field.
//
// Errors: *MalformedError, also for a patch that is no object, which to Merge is
// what to put in the object's place.
func CheckMerge(patch []byte) (fieldErrors []error, err error) {
	_, fieldErrors, err = wire.DecodeUntyped(patch, wire.DecodeOptions{Strict: true})
	if err != nil {
		return nil, &MalformedError{"error decoding patch: " + err.Error()}
	}
	return fieldErrors, nil
}

// Merge applies a JSON Merge Patch to the JSON text of an object and returns the
// changed text. It changes neither argument.
//
// Errors: *MalformedError.
func Merge(doc, patch []byte) ([]byte, error) {
	out, err := jsonpatch.MergePatch(doc, patch)
	if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
		return nil, &MalformedError{err.Error()}
	}
	return out, err
}
