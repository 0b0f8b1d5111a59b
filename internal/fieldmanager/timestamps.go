package fieldmanager

import (
	"maps"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// IgnoreTimestamps returns obj with the managedFields of old if only the times
// of its managedFields differ from old: such a write changes nothing.
// Otherwise it returns obj itself. Both objects are in canonical form. In a
// built-in kind, an empty list equals an absent one.
func (t *Type) IgnoreTimestamps(old object.View, obj map[string]any) map[string]any {
	live := old.SharedMembers()
	before, _ := managedFields(live)
	after, _ := managedFields(obj)
	if len(before) == 0 || len(before) != len(after) {
		return obj
	}
	same := true
	for i := range before {
		equal, sameTime := equalEntries(before[i], after[i])
		if !equal {
			return obj
		}
		same = same && sameTime
	}
	compare := identical
	if t.kind.OmitEmpty != nil {
		compare = equalOrEmpty
	}
	if same || !equalExcept(live, obj, "metadata", compare) || !equalExcept(metadata(live), metadata(obj), "managedFields", compare) {
		return obj
	}
	out := maps.Clone(obj)
	meta := maps.Clone(metadata(obj))
	meta["managedFields"] = before
	out["metadata"] = meta
	return out
}

// equalEntries compares two entries of managedFields: without their times, and
// their times.
func equalEntries(a, b any) (equal, sameTime bool) {
	if object.Same(a, b) {
		return true, true
	}
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	return equalExcept(x, y, "time", identical), x["time"] == y["time"]
}

// identical and equalOrEmpty compare members of objects. equalOrEmpty treats an
// absent member, a null and an empty list as equal.
func identical(a, b any) bool { return (a == absent) == (b == absent) && object.Equal(a, b) }

func equalOrEmpty(a, b any) bool { return validation.Equal(orNull(a), orNull(b)) }

// orNull returns v, nil if v is absent.
func orNull(v any) any {
	if v == absent {
		return nil
	}
	return v
}

// equalExcept compares all members of two objects but one.
func equalExcept(a, b map[string]any, except string, same func(a, b any) bool) bool {
	for name, v := range a {
		if w := member(b, name); name != except && !object.Identical(v, w) && !same(v, w) {
			return false
		}
	}
	for name, v := range b {
		if _, both := a[name]; !both && name != except && !same(absent, v) {
			return false
		}
	}
	return true
}
