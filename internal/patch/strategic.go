package patch

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/wire"
)

// A Merged is what a strategic merge patch has made of an object.
type Merged struct {
	// Object is the patched object. It has the values that the patch gave as
	// the patch gave them, unknown members and wrong types included, so that
	// wire.Type.Convert is what it needs next.
	Object map[string]any
	// FieldErrors are the duplicate fields of the patch, if it was read
	// strictly.
	FieldErrors []error

	patch map[string]any
}

// PatchText is how the server shows the patch when it rejects what came of it: a
// Go map without the directives that have been obeyed. It shares memory with
// Object: ask before that is changed.
func (m *Merged) PatchText() string { return fmt.Sprintf("%+v", m.patch) }

// Strategic applies a strategic merge patch to an object of the kind that s
// describes. Objects are merged member by member, where null takes a member
// away. Lists are replaced, unless the schema has them merged: by their merge
// key, or as sets if their elements are scalars. The directives are
//
//	$patch                        replace or delete the object, or the elements
//	                              of a merged list, instead of merging them
//	$retainKeys                   the only members to keep
//	$deleteFromPrimitiveList/list what to take out of a list of scalars
//	$setElementOrder/list         the order of the list
//
// With strict, duplicate fields of the patch are reported. Strategic neither
// changes obj nor keeps parts of it.
//
// Where kube-apiserver leaves it to chance which of a patch's members comes
// first, they come in the order of their names.
//
// Errors: *MalformedError; *InapplicableError for a list of lists; other errors,
// in the server's words, for what it answers as an internal error, a list
// element without its merge key for instance.
func Strategic(obj map[string]any, patch []byte, s *schema.Schema, strict bool) (*Merged, error) {
	decoded, fieldErrors, err := wire.DecodeUntyped(patch, wire.DecodeOptions{Strict: strict})
	if err != nil {
		return nil, &MalformedError{err.Error()}
	}
	merged, err := mergeObject(object.Copy(obj), decoded, s)
	if err != nil {
		return nil, err
	}
	return &Merged{merged, fieldErrors, decoded}, nil
}

// The directives of a strategic merge patch.
const (
	directive       = "$patch"
	retainKeys      = "$retainKeys"
	deleteFromList  = "$deleteFromPrimitiveList"
	setElementOrder = "$setElementOrder"
)

var (
	errDeleteFromList  = &MalformedError{"invalid patch format of primitive list"}
	errRetainKeys      = &MalformedError{"invalid patch format of retainKeys"}
	errSetElementOrder = &MalformedError{"invalid patch format of setElementOrder list"}
)

// mergeObject merges patch into an object of type s and returns the result. Like
// all functions below it takes obj and patch apart, and builds the result of
// their parts.
func mergeObject(obj, patch map[string]any, s *schema.Schema) (map[string]any, error) {
	if v, ok := patch[directive]; ok {
		switch v {
		case "replace":
			delete(patch, directive)
			return patch, nil
		case "delete":
			return map[string]any{}, nil
		}
		return nil, badDirective(v, patch)
	}
	if err := retain(obj, patch); err != nil {
		return nil, err
	}
	for _, key := range names(patch) {
		v, ok := patch[key] // an ordered list may have taken it
		if !ok || !strings.HasPrefix(key, setElementOrder) {
			continue
		}
		delete(patch, key)
		if err := mergeOrdered(obj, patch, key, v, s); err != nil {
			return nil, err
		}
	}
	for _, key := range names(patch) {
		if err := mergeMember(obj, key, patch[key], s); err != nil {
			return nil, err
		}
	}
	return obj, nil
}

// names are the names of an object's members in order.
func names(obj map[string]any) []string { return slices.Sorted(maps.Keys(obj)) }

// retain obeys $retainKeys. What the patch sets has to be among the keys.
func retain(obj, patch map[string]any) error {
	v, ok := patch[retainKeys]
	if !ok {
		return nil
	}
	delete(patch, retainKeys)
	list, ok := v.([]any)
	if !ok {
		return errRetainKeys
	}
	kept := func(key string) bool { return slices.ContainsFunc(list, func(v any) bool { return v == key }) }
	for key, v := range patch {
		ordered := strings.HasPrefix(key, deleteFromList) || strings.HasPrefix(key, setElementOrder)
		if v != nil && !ordered && !kept(key) {
			return errRetainKeys
		}
	}
	maps.DeleteFunc(obj, func(key string, _ any) bool { return !kept(key) })
	return nil
}

// mergeMember merges one member of a patch into an object of type s.
func mergeMember(obj map[string]any, name string, v any, s *schema.Schema) error {
	deletes := strings.HasPrefix(name, deleteFromList)
	if deletes {
		about, err := listOf(name, deleteFromList, errDeleteFromList)
		if err != nil {
			return err
		}
		if about != "" {
			name = about
		}
	}
	if v == nil {
		delete(obj, name)
		return nil
	}
	old, ok := obj[name]
	if !ok || reflect.TypeOf(old) != reflect.TypeOf(v) {
		if !deletes {
			dropNulls(v)
			set(obj, name, v)
		}
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		f, err := member(s, name)
		if err != nil {
			return err
		}
		merged := v
		if f.strategy != "replace" {
			if merged, err = mergeObject(old.(map[string]any), v, f.typ); err != nil {
				return err
			}
		}
		obj[name] = merged
	case []any:
		f, err := list(s, name)
		if err != nil {
			return err
		}
		merged := v
		if f.strategy == "merge" || deletes {
			if merged, err = mergeList(old.([]any), v, f, deletes); err != nil {
				return err
			}
		}
		obj[name] = merged
	default:
		obj[name] = v
	}
	return nil
}

// listOf is the list that a directive is about, by the directive's name. The
// error is malformed.
func listOf(name, directive string, malformed error) (string, error) {
	prefix, about, ok := strings.Cut(name, "/")
	if !ok || prefix != directive {
		return "", malformed
	}
	return about, nil
}

// set sets a member to a value of the patch that has nothing to be merged with,
// unless a directive is all that the value is.
func set(obj map[string]any, key string, v any) {
	if v, ok := withoutDirectives(v); ok {
		obj[key] = v
	} else {
		delete(obj, key)
	}
}

// withoutDirectives drops the objects in v that have a $patch directive, v
// itself included: then it reports false. Objects are changed, lists are not.
func withoutDirectives(v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		if hasDirective(v) {
			return nil, false
		}
		for key, member := range v {
			set(v, key, member)
		}
	case []any:
		kept := make([]any, 0, len(v))
		for _, elem := range v {
			if elem, ok := withoutDirectives(elem); ok {
				kept = append(kept, elem)
			}
		}
		return kept, true
	}
	return v, true
}

func hasDirective(v any) bool {
	obj, _ := v.(map[string]any)
	_, ok := obj[directive]
	return ok
}

// dropNulls drops the members that are null in the objects of v.
func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, member any) bool { return member == nil })
		for _, member := range v {
			dropNulls(member)
		}
	case []any:
		for _, elem := range v {
			dropNulls(elem)
		}
	}
}
