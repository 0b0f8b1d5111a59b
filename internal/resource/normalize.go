package resource

import (
	"maps"

	"github.com/kubefake/kubefake/internal/object"
)

// NormalizeMembers puts an object in canonical form with normalize, which gets only the members
// that are not those of before, a canonical object. The result shares the others with obj, or it is
// obj. Of an object with errors, normalize gets all members.
func NormalizeMembers(c Codec, before, obj map[string]any, normalize func(obj map[string]any) (map[string]any, []error, error)) (map[string]any, []error, error) {
	if t := c.Wire(); t != nil && t.IsCanonical(obj, before) {
		return obj, nil, nil
	}
	changed := changedMembers(before, obj)
	normal, fieldErrors, err := normalize(changed)
	if err != nil || len(fieldErrors) > 0 {
		return normalize(obj)
	}
	return replaceMembers(obj, changed, normal), nil, nil
}

// Respelled returns old with the quantities of obj in place of those that are equal to them, so that
// they compare as equal, and old itself if there are none or if this is the type of a custom resource.
// Both are objects of the type.
func (t *Type) Respelled(old object.View, obj map[string]any) object.View {
	was := old.SharedMembers()
	if w := t.Codec.Wire(); w != nil && was != nil {
		if respelled := w.Respelled(was, obj); !object.Same(respelled, was) {
			return object.ViewOf(respelled)
		}
	}
	return old
}

// changedMembers returns the members of obj that are not those of before. Of a member that is an
// object in both, it has only the members of it that are changed.
func changedMembers(before, obj map[string]any) map[string]any {
	changed := map[string]any{}
	for name, v := range obj {
		was, had := before[name]
		if had && object.Identical(v, was) {
			continue
		}
		if members, wereMembers, ok := bothObjects(v, was); ok {
			v = changedMembers(wereMembers, members)
		}
		changed[name] = v
	}
	return changed
}

// replaceMembers returns obj with the members in changed replaced by those in normal, which is
// their canonical form.
func replaceMembers(obj, changed, normal map[string]any) map[string]any {
	out := maps.Clone(obj)
	for name, v := range normal {
		if _, ok := out[name]; !ok { // a field that is never absent
			out[name] = v
		}
	}
	for name, part := range changed {
		v, ok := normal[name]
		if whole, isObject := obj[name].(map[string]any); isObject && !object.Same(whole, part) {
			// The canonical form of an object without members may be another value or none.
			members, isObject := v.(map[string]any)
			if v := replaceMembers(whole, part.(map[string]any), members); isObject || len(v) > 0 {
				out[name] = v
				continue
			}
		}
		if ok {
			out[name] = v
		} else {
			delete(out, name)
		}
	}
	return out
}

func bothObjects(a, b any) (x, y map[string]any, ok bool) {
	x, isObject := a.(map[string]any)
	y, ok = b.(map[string]any)
	return x, y, isObject && ok
}
