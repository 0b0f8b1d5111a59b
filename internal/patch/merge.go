package patch

import (
	"bytes"
	"maps"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
)

// A MergePatch is a parsed JSON Merge Patch. It is immutable.
type MergePatch struct {
	// FieldErrors are the duplicate fields, if strict was set. The last value of
	// such a field is applied.
	FieldErrors []error

	body    []byte
	members map[string]any // nil if the patch is not a JSON object
}

// ParseMerge parses a JSON Merge Patch. It keeps body, which must not change.
//
// Errors: *MalformedError, if strict is set: also for a patch that is not an
// object. Without strict ApplyText returns the error of a malformed patch, and
// accepts a patch that is not an object: it replaces the object.
func ParseMerge(body []byte, strict bool) (*MergePatch, error) {
	p := &MergePatch{body: body}
	members, fieldErrors, err := wire.DecodeUntyped(body, wire.DecodeOptions{Strict: strict})
	if err != nil && strict {
		return nil, &MalformedError{"error decoding patch: " + err.Error()}
	}
	p.FieldErrors = fieldErrors
	if err == nil && bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		p.members = members
	}
	return p, nil
}

// ApplyText applies the patch to the JSON text of an object and returns the
// changed text. It does not change doc.
//
// Errors: *MalformedError.
func (p *MergePatch) ApplyText(doc []byte) ([]byte, error) {
	out, err := mergeText(doc, p.body)
	if err != nil {
		return nil, &MalformedError{err.Error()}
	}
	return out, nil
}

// Apply is ApplyText for an object in generic form. It does not change obj. The
// result is a copy that shares with obj what the patch does not change, and other values
// with the patch.
//
// It reports false if the result depends on the text, so that ApplyText has to be
// used: if the patch is malformed or not an object, or contains numbers that are
// not int64, or nulls that do not delete a member.
func (p *MergePatch) Apply(obj map[string]any) (merged map[string]any, ok bool) {
	if p.members == nil {
		return nil, false
	}
	merged, ok = mergeMembers(obj, p.members)
	if object.Same(merged, obj) {
		merged = maps.Clone(obj)
	}
	return merged, ok
}

// mergeMembers returns an object with changes: obj itself if they change nothing.
func mergeMembers(obj, changes map[string]any) (merged map[string]any, ok bool) {
	merged = obj
	for name, change := range changes {
		old, had := obj[name]
		members, isObject := old.(map[string]any)
		next, changesObject := change.(map[string]any)
		switch {
		case change == nil:
		case isObject && changesObject:
			if change, ok = mergeMembers(members, next); !ok {
				return nil, false
			}
		case !object.All(change, plain):
			return nil, false
		}
		if had == (change != nil) && object.Identical(old, change) {
			continue
		}
		if object.Same(merged, obj) {
			merged = maps.Clone(obj)
		}
		if change == nil {
			delete(merged, name)
		} else {
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
