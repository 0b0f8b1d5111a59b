package validation

import (
	"reflect"

	"github.com/kubefake/kubefake/internal/object"
)

const immutableRule = "field is immutable"

// ImmutableField checks that a field has its old value, compared by Equal.
func ImmutableField(newVal, oldVal any, path *Path) List {
	if Equal(newVal, oldVal) {
		return nil
	}
	return List{Invalid(path, newVal, immutableRule)}
}

// Equal reports whether two values are semantically equal. Null and an empty
// list equal an absent field, as they do in a decoded object. An empty map does
// not: it may be a struct whose presence matters, such as emptyDir.
//
// Values are those of decoded objects, or views of them. Values of other Go types are compared
// with reflect.DeepEqual.
func Equal(a, b any) bool { return equal(object.Shown(a), object.Shown(b)) }

func equal(a, b any) bool {
	if object.Same(a, b) {
		return true
	}
	if absent(a) || absent(b) {
		return absent(a) && absent(b)
	}
	switch a := a.(type) {
	case string, bool, int64, float64:
		return a == b
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalMembers(a, b)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// equalMembers reports whether two objects have equal fields.
func equalMembers(a, b map[string]any) bool {
	for key, v := range a {
		if w, ok := b[key]; !equal(v, w) && !(ok && isNilBytes(v, w)) {
			return false
		}
	}
	for key, v := range b {
		if _, ok := a[key]; !ok && !absent(v) {
			return false
		}
	}
	return true
}

// isNilBytes reports whether one value of a key is nil and the other has no bytes.
func isNilBytes(a, b any) bool { return a == nil && b == "" || a == "" && b == nil }

func absent(v any) bool {
	switch v := v.(type) {
	case nil, object.EmptyMap:
		return true
	case []any:
		return len(v) == 0
	}
	return false
}
