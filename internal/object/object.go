// Package object reads and writes API objects in their generic form: the
// map[string]any that JSON decodes to, with int64 and float64 for numbers.
//
// Readers treat a member that is absent or of another type as empty: whoever
// cares about types decodes by a type's schema first.
package object

import (
	"encoding/json"
	"iter"
	"reflect"
	"slices"
	"strconv"
)

// EmptyMap is a map without entries, where a client sent one for a map of a
// built-in kind. To readers it is no map, so that it counts as absent; but it is
// not nil, and is printed as the map. An empty list needs no such thing, because
// it cannot be taken for a struct without members.
type EmptyMap struct{}

// Integers turns the json.Numbers in obj into int64, and into float64 where
// they are no integers. It changes obj and returns it.
func Integers(obj map[string]any) map[string]any {
	for k, v := range obj {
		obj[k] = number(v)
	}
	return obj
}

// number replaces the json.Numbers of a value.
func number(v any) any {
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
			t[i] = number(e)
		}
	}
	return v
}

// Meta is the object's metadata, made when the object has none.
func Meta(obj map[string]any) map[string]any {
	if m, ok := obj["metadata"].(map[string]any); ok {
		return m
	}
	m := map[string]any{}
	obj["metadata"] = m
	return m
}

// Value is the member at the path, nil if there is none.
func Value(obj map[string]any, path ...string) any {
	var v any = obj
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// String is the string at the path, or "".
func String(obj map[string]any, path ...string) string {
	s, _ := Value(obj, path...).(string)
	return s
}

// Bool is the boolean at the path, or false.
func Bool(obj map[string]any, path ...string) bool {
	b, _ := Value(obj, path...).(bool)
	return b
}

// Int is the integer at the path; ok tells whether there is one.
func Int(obj map[string]any, path ...string) (n int64, ok bool) {
	n, ok = Value(obj, path...).(int64)
	return n, ok
}

// Map is the object at the path, or nil.
func Map(obj map[string]any, path ...string) map[string]any {
	m, _ := Value(obj, path...).(map[string]any)
	return m
}

// List is the list at the path, or nil.
func List(obj map[string]any, path ...string) []any {
	l, _ := Value(obj, path...).([]any)
	return l
}

// Each are the objects in a list; none if it is no list.
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

// Condition is the first of status.conditions that is of the type and has the
// status, or nil.
func Condition(obj map[string]any, typ, status string) map[string]any {
	for c := range Each(Value(obj, "status", "conditions")) {
		if c["type"] == typ && c["status"] == status {
			return c
		}
	}
	return nil
}

// All reports whether ok holds for a value and for all that is in it. The name is
// that of the member that has the value, "" elsewhere.
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

// Same reports whether two values are one object or one list in memory, so that
// a change of the one would be a change of the other.
func Same(a, b any) bool {
	switch a.(type) {
	case map[string]any, []any:
		x, y := reflect.ValueOf(a), reflect.ValueOf(b)
		return x.Kind() == y.Kind() && x.Len() == y.Len() && x.Pointer() == y.Pointer()
	}
	return false
}

// Strings is the list at the path with what is no string left out.
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

// Texts are texts as a list of an object has them, the opposite of Strings.
func Texts(texts []string) []any {
	out := make([]any, len(texts))
	for i, s := range texts {
		out[i] = s
	}
	return out
}

// Text is how a field selector sees the value at the path: strings as they
// are, numbers and booleans printed, anything else "".
func Text(obj map[string]any, path ...string) string {
	switch v := Value(obj, path...).(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return ""
}

// Set sets the value at the path, making the objects on the way.
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

// Keep gives dst the member that src has, and takes it from dst where src has
// none.
func Keep(dst, src map[string]any, name string) {
	v, ok := src[name]
	if !ok {
		delete(dst, name)
		return
	}
	dst[name] = v
}

// Copy is a deep copy of a generic value.
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

// Equal reports whether two generic values are the same. An absent member, a
// nil one and an empty map or list are different things to it.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) || (x == nil) != (y == nil) {
			return false
		}
		for k, v := range x {
			w, ok := y[k]
			if !ok || !Equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) || (x == nil) != (y == nil) {
			return false
		}
		for i := range x {
			if !Equal(x[i], y[i]) {
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
