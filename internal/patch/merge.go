package patch

import (
	"bytes"
	"errors"
	"maps"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
)

// CheckMerge returns an error for each duplicate field in a JSON Merge Patch.
// [Merge] ignores them.
//
// Errors: *MalformedError, also for a patch that is not an object. Merge
// accepts such a patch and replaces the object by it.
func CheckMerge(patch []byte) (fieldErrors []error, err error) {
	_, fieldErrors, err = wire.DecodeUntyped(patch, wire.DecodeOptions{Strict: true})
	if err != nil {
		return nil, &MalformedError{"error decoding patch: " + err.Error()}
	}
	return fieldErrors, nil
}

// Merge applies a JSON Merge Patch to the JSON text of an object and returns
// the changed text. It changes neither argument.
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
// argument. The result shares memory with obj.
//
// It reports false if the result depends on the text, so that Merge has to be
// used: if the patch is malformed or not an object, or contains numbers that
// are not int64, or nulls that do not delete a member.
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

// plain reports whether a value is neither null nor a float.
func plain(_ string, v any) bool {
	_, fraction := v.(float64)
	return v != nil && !fraction
}
