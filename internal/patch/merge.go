package patch

import (
	"bytes"
	"errors"
	"maps"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubefake/kubefake/internal/object"
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

// MergeObject is Merge for an object in generic form. It changes neither
// argument; what the patch leaves alone is shared by both objects.
//
// It reports false where the text has a say in what becomes of it, and Merge is
// to decide: if the patch is malformed or no object, or brings numbers that are
// no int64, or nulls beside those that delete a member.
func MergeObject(obj map[string]any, patch []byte) (merged map[string]any, ok bool) {
	if !bytes.HasPrefix(bytes.TrimLeft(patch, " \t\r\n"), []byte("{")) {
		return nil, false
	}
	changes, _, err := wire.DecodeUntyped(patch, wire.DecodeOptions{})
	if err != nil {
		return nil, false
	}
	return mergeMembers(obj, changes)
}

func mergeMembers(obj, changes map[string]any) (merged map[string]any, ok bool) {
	merged = maps.Clone(obj)
	for name, change := range changes {
		old, isObject := obj[name].(map[string]any)
		next, changesObject := change.(map[string]any)
		switch {
		case change == nil:
			delete(merged, name)
		case isObject && changesObject:
			if merged[name], ok = mergeMembers(old, next); !ok {
				return nil, false
			}
		case !object.All(change, plain):
			return nil, false
		default:
			merged[name] = change
		}
	}
	return merged, true
}

// plain reports whether a value is neither null nor a fraction.
func plain(_ string, v any) bool {
	_, fraction := v.(float64)
	return v != nil && !fraction
}
