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

// A StrategicPatch is a parsed strategic merge patch. It can be applied once.
type StrategicPatch struct {
	// FieldErrors are the duplicate fields, if strict was set.
	FieldErrors []error

	members map[string]any
}

// ParseStrategic parses a strategic merge patch.
//
// Errors: *MalformedError.
func ParseStrategic(body []byte, strict bool) (*StrategicPatch, error) {
	members, fieldErrors, err := wire.DecodeUntyped(body, wire.DecodeOptions{Strict: strict})
	if err != nil {
		return nil, &MalformedError{err.Error()}
	}
	return &StrategicPatch{fieldErrors, members}, nil
}

// A Merged is the result of a strategic merge patch.
type Merged struct {
	// Object is the patched object. Values from the patch are unchanged,
	// unknown members and wrong types included. The caller passes Object to
	// wire.Type.Convert.
	Object map[string]any

	patch map[string]any
}

// PatchText returns the patch as kube-apiserver prints it when it rejects the
// result: a Go map without the directives that were applied. The patch shares
// memory with Object: call PatchText before changing that.
func (m *Merged) PatchText() string { return fmt.Sprintf("%+v", m.patch) }

// Apply applies the patch to an object of the kind that s describes. Objects are
// merged member by member; a null removes a member. Lists are replaced, unless
// the schema declares that they are merged: by a merge key, or as sets if their
// elements are scalars. The directives are
//
//	$patch                        replace or delete the object, or the elements
//	                              of a merged list, instead of merging them
//	$retainKeys                   the only members to keep
//	$deleteFromPrimitiveList/list what to remove from a list of scalars
//	$setElementOrder/list         the order of the list
//
// Apply does not change obj, but it consumes the patch. The result shares with obj the members
// that the patch does not name.
//
// Where kube-apiserver processes the members of a patch in random order, Apply
// processes them in the order of their names.
//
// Errors: *MalformedError; *InapplicableError for a list of lists. Other errors
// have kube-apiserver's text and are internal errors there, such as a list
// element without its merge key.
func (p *StrategicPatch) Apply(obj map[string]any, s *schema.Schema) (*Merged, error) {
	merged, err := mergeObject(own(obj, p.members), p.members, s)
	if err != nil {
		return nil, err
	}
	return &Merged{merged, p.members}, nil
}

// own returns obj with copies of what merging the patch changes in place: the objects and lists
// that the patch names, by themselves or in a directive. It shares the others.
func own(obj, patch map[string]any) map[string]any {
	out := maps.Clone(obj)
	for name, change := range patch {
		ownMember(out, obj, name, change)
		if _, about, ok := strings.Cut(name, "/"); ok {
			ownMember(out, obj, about, change)
		}
	}
	return out
}

// ownMember copies a member of out that is still shared with obj.
func ownMember(out, obj map[string]any, name string, change any) {
	v, ok := obj[name]
	if !ok || !object.Same(v, out[name]) {
		return
	}
	members, isObject := v.(map[string]any)
	changes, changesObject := change.(map[string]any)
	if isObject && changesObject {
		out[name] = own(members, changes)
	} else {
		out[name] = object.Copy(v)
	}
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

// mergeObject merges patch into an object of type s and returns the result.
// Like all functions below it consumes obj and patch: the result shares memory
// with both.
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
	if err := applyRetainKeys(obj, patch); err != nil {
		return nil, err
	}
	for _, key := range names(patch) {
		v, ok := patch[key] // an ordered list may have consumed it
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

// names returns the sorted names of an object's members.
func names(obj map[string]any) []string { return slices.Sorted(maps.Keys(obj)) }

// applyRetainKeys applies $retainKeys. It fails if the patch sets a member that is
// not among the keys.
func applyRetainKeys(obj, patch map[string]any) error {
	v, ok := patch[retainKeys]
	if !ok {
		return nil
	}
	delete(patch, retainKeys)
	list, ok := v.([]any)
	if !ok {
		return errRetainKeys
	}
	keys := newFinder(list, "")
	kept := func(key string) bool { return keys.place(key) >= 0 }
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
			setMember(obj, name, v)
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

// listOf returns the name of the list in the name of a directive, or the error
// malformed.
func listOf(name, directive string, malformed error) (string, error) {
	prefix, about, ok := strings.Cut(name, "/")
	if !ok || prefix != directive {
		return "", malformed
	}
	return about, nil
}

// setMember sets a member to a value of the patch that is not merged, unless
// the value consists of a directive only.
func setMember(obj map[string]any, key string, v any) {
	if v, ok := withoutDirectives(v); ok {
		obj[key] = v
	} else {
		delete(obj, key)
	}
}

// withoutDirectives removes the objects in v that have a $patch directive. It
// reports false if v itself is one. Objects are changed in place, lists are
// not.
func withoutDirectives(v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		if hasDirective(v) {
			return nil, false
		}
		for key, member := range v {
			setMember(v, key, member)
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

// dropNulls removes the null members of the objects in v.
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
