// Package patch changes a JSON document by a patch. JSON Patch (RFC 6902) and
// JSON Merge Patch (RFC 7386) are those of the library that kube-apiserver
// uses, so that their corner cases agree.
package patch

import (
	"encoding/json"
	"errors"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// The media types of patches.
const (
	JSONType      = "application/json-patch+json"
	MergeType     = "application/merge-patch+json"
	StrategicType = "application/strategic-merge-patch+json"
	ApplyType     = "application/apply-patch+yaml"
)

// maxOperations is how many operations a JSON Patch may have.
const maxOperations = 10000

// A MalformedError says that the patch itself makes no sense.
type MalformedError struct{ Message string }

func (e *MalformedError) Error() string { return e.Message }

// A TooManyError says that a JSON Patch has more operations than are allowed.
type TooManyError struct{ Operations int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, e.Operations)
}

// An InapplicableError says that the patch makes sense, but not for this
// document: a path is missing, or a test failed.
type InapplicableError struct{ Err error }

func (e *InapplicableError) Error() string { return e.Err.Error() }

func (e *InapplicableError) Unwrap() error { return e.Err }

// JSON applies a JSON Patch.
//
// Errors: *MalformedError, *TooManyError, *InapplicableError.
func JSON(doc, patch []byte) ([]byte, error) {
	var operations []struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		From  string `json:"from"`
		Value any    `json:"value"`
	}
	if err := json.Unmarshal(patch, &operations); err != nil {
		return nil, &MalformedError{"error decoding patch: " + err.Error()}
	}
	p, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, &MalformedError{err.Error()}
	}
	if len(p) > maxOperations {
		return nil, &TooManyError{len(p)}
	}
	out, err := p.Apply(doc)
	if err != nil {
		return nil, &InapplicableError{err}
	}
	return out, nil
}

// Merge applies a JSON Merge Patch.
//
// Errors: *MalformedError, and those of a document that is no JSON.
func Merge(doc, patch []byte) ([]byte, error) {
	var members map[string]any
	if err := json.Unmarshal(patch, &members); err != nil {
		return nil, &MalformedError{"error decoding patch: " + err.Error()}
	}
	out, err := jsonpatch.MergePatch(doc, patch)
	if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
		return nil, &MalformedError{err.Error()}
	}
	return out, err
}
