package object

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"unsafe"
)

// EmptyMap is the value of a map field of a built-in kind for which a client sent
// an empty map. Functions that read maps treat it as absent, but it is not nil and
// is encoded as {}. Empty lists need no such type: an empty map could also be a
// struct without fields, an empty list could not.
type EmptyMap struct{}

// IsEmpty reports whether a value is null or an empty list or map.
func IsEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case EmptyMap:
		return true
	}
	return v == nil
}

// Integers replaces each json.Number in obj by an int64, or by a float64 if it is
// not an int64. It changes obj and returns it.
func Integers(obj map[string]any) map[string]any {
	for k, v := range obj {
		obj[k] = convertNumbers(v)
	}
	return obj
}

// convertNumbers is Integers for any value.
func convertNumbers(v any) any {
	switch t := v.(type) {
	case json.Number:
		if n, err := t.Int64(); err == nil {
			return n
		}
		f, _ := t.Float64()
		return f
	case map[string]any:
		return Integers(t)
	case []any:
		for i, e := range t {
			t[i] = convertNumbers(e)
		}
	}
	return v
}

// ServerMetadata are the fields of metadata that the server sets.
var ServerMetadata = []string{
	"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid",
}

// Meta returns the object's metadata. It sets empty metadata if there is none.
func Meta(obj map[string]any) map[string]any {
	if m, ok := obj["metadata"].(map[string]any); ok {
		return m
	}
	m := map[string]any{}
	obj["metadata"] = m
	return m
}

// Value returns the field at the path, or nil.
func Value(obj map[string]any, path ...string) any {
	var v any = obj
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			if m, ok = Plain(v).(map[string]any); !ok {
				return nil
			}
		}
		v = m[name]
	}
	return v
}

// String returns the string at the path, or "".
func String(obj map[string]any, path ...string) string {
	s, _ := Value(obj, path...).(string)
	return s
}

// Bool returns the boolean at the path, or false.
func Bool(obj map[string]any, path ...string) bool {
	b, _ := Value(obj, path...).(bool)
	return b
}

// Int returns the integer at the path, and reports whether there is one.
func Int(obj map[string]any, path ...string) (n int64, ok bool) {
	n, ok = Value(obj, path...).(int64)
	return n, ok
}

// Map returns the object at the path, or nil.
func Map(obj map[string]any, path ...string) map[string]any {
	m, _ := Plain(Value(obj, path...)).(map[string]any)
	return m
}

// List returns the list at the path, or nil.
func List(obj map[string]any, path ...string) []any {
	l, _ := Value(obj, path...).([]any)
	return l
}

// Each iterates over the objects in a list. It skips items of other types, and
// does nothing if list is not a []any.
func Each(list any) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		l, _ := list.([]any)
		for _, e := range l {
			if m, ok := e.(map[string]any); ok && !yield(m) {
				return
			}
		}
	}
}

// All reports whether ok returns true for v and for every value nested in it. name
// is the name of the field that holds the value, "" for v and for list items.
func All(v any, ok func(name string, v any) bool) bool { return all("", v, ok) }

func all(name string, v any, ok func(name string, v any) bool) bool {
	if !ok(name, v) {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if !all(name, member, ok) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(v, func(element any) bool { return !all("", element, ok) })
	}
	return true
}

// Same reports whether a and b are the same map or the same list in memory: a
// change of one changes the other. It returns false for scalars.
func Same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && sameMap(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && sameList(a, b)
	}
	return false
}

// Identical reports whether a and b are equal scalars, or the same map or the same list in
// memory.
func Identical(a, b any) bool {
	switch a.(type) {
	case map[string]any, []any:
		return Same(a, b)
	}
	return a == b
}

func sameMap(a, b map[string]any) bool { return mapData(a) == mapData(b) }

// mapData returns the pointer that a map is, as reflect.Value.UnsafePointer does.
func mapData(m map[string]any) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&m)) }

func sameList(a, b []any) bool {
	return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

// Strings returns the strings of the list at the path. It skips items of other
// types.
func Strings(obj map[string]any, path ...string) []string {
	list := List(obj, path...)
	if len(list) == 0 {
		return nil
	}
	out := make([]string, 0, len(list))
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// FromStrings returns the strings as a list field holds them. It is the inverse of
// Strings.
func FromStrings(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// Set sets the value at the path. It creates the objects on the path that are
// absent.
func Set(obj map[string]any, v any, path ...string) {
	last := len(path) - 1
	for _, name := range path[:last] {
		next, ok := obj[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			obj[name] = next
		}
		obj = next
	}
	obj[path[last]] = v
}

// Keep sets a field of dst to what src has, which dst shares. It deletes the field from dst if src does
// not have it.
func Keep(dst map[string]any, src View, name string) {
	v, ok := src.SharedMembers()[name]
	if !ok {
		delete(dst, name)
		return
	}
	dst[name] = v
}

// CopyMembers sets members of dst to shallow copies of those of src.
func CopyMembers(dst, src map[string]any) {
	for name, v := range src {
		switch v := v.(type) {
		case map[string]any:
			dst[name] = maps.Clone(v)
		case []any:
			dst[name] = slices.Clone(v)
		default:
			dst[name] = v
		}
	}
}

// Copy returns a deep copy of a generic value.
func Copy[T any](v T) T {
	c, _ := copyValue(v).(T)
	return c
}

func copyValue(v any) any {
	switch t := v.(type) {
	case map[string]any:
		if t == nil {
			return t
		}
		out := make(map[string]any, len(t))
		for k, e := range t {
			out[k] = copyValue(e)
		}
		return out
	case []any:
		if t == nil {
			return t
		}
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = copyValue(e)
		}
		return out
	}
	return v
}

// Equal reports whether two generic values, or views of them, are deeply equal. An absent field, a
// nil value, an empty map and an empty list are all different.
func Equal(a, b any) bool { return equal(Shown(a), Shown(b)) }

// Shown returns the value that a View shows, as [View.Shared] does, and any other value as it is.
func Shown(v any) any {
	if view, ok := v.(View); ok {
		return view.v
	}
	return v
}

func equal(a, b any) bool {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return ok && x == y
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) || (x == nil) != (y == nil) {
			return false
		}
		if sameMap(x, y) {
			return true
		}
		for k, v := range x {
			w, ok := y[k]
			if !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) || (x == nil) != (y == nil) {
			return false
		}
		if sameList(x, y) {
			return true
		}
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

// ShareMembers sets each map and list within obj that is equal to what old has at the same place
// to that, and reports whether obj is equal to old. Elements of lists are compared by their index.
func ShareMembers(obj map[string]any, old View) (equal bool) {
	return shareMembers(obj, old.SharedMembers())
}

func shareMembers(obj, old map[string]any) (equal bool) {
	equal = len(obj) == len(old)
	for name, v := range obj {
		if was, ok := old[name]; !ok {
			equal = false
		} else if shared, same := share(v, was); !same {
			equal = false
		} else if shared {
			obj[name] = was
		}
	}
	return equal
}

// share is ShareMembers for any values that are at the same place. shared reports that the second
// is to take the place of the first.
func share(v, old any) (shared, equal bool) {
	if Same(v, old) {
		return false, true
	}
	switch v := v.(type) {
	case map[string]any:
		was, ok := old.(map[string]any)
		equal = ok && (v == nil) == (was == nil) && shareMembers(v, was)
		return equal, equal
	case []any:
		was, ok := old.([]any)
		equal = ok && (v == nil) == (was == nil) && shareElements(v, was)
		return equal, equal
	}
	return false, Equal(v, old)
}

// shareElements is ShareMembers for lists.
func shareElements(list, old []any) (equal bool) {
	equal = len(list) == len(old)
	for i, v := range list[:min(len(list), len(old))] {
		if shared, same := share(v, old[i]); !same {
			equal = false
		} else if shared {
			list[i] = old[i]
		}
	}
	return equal
}
