package fieldmanager

import (
	"maps"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// KeepTimes returns obj, which is about to take the place of live, with the
// managedFields of live if their times are all that would change: such a write
// is none. Otherwise it returns obj as it is. Both are in canonical form. In a
// built-in kind, an empty list is as good as none.
func (t *Type) KeepTimes(live, obj map[string]any) map[string]any {
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
	if t.kind.Tidy != nil {
		compare = alike
	}
	if same || !equalBut(live, obj, "metadata", compare) || !equalBut(metadata(live), metadata(obj), "managedFields", compare) {
		return obj
	}
	out := maps.Clone(obj)
	meta := maps.Clone(metadata(obj))
	meta["managedFields"] = before
	out["metadata"] = meta
	return out
}

// equalEntries compares entries of managedFields without their times, and their
// times.
func equalEntries(a, b any) (equal, sameTime bool) {
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	return equalBut(x, y, "time", identical), x["time"] == y["time"]
}

// identical and alike compare members of objects. To the latter one that is
// absent, one that is null and one that is an empty list are the same.
func identical(a, b any) bool { return (a == absent) == (b == absent) && object.Equal(a, b) }

func alike(a, b any) bool { return validation.Equal(orNull(a), orNull(b)) }

// orNull is a value, and a null for an absent one.
func orNull(v any) any {
	if v == absent {
		return nil
	}
	return v
}

// equalBut compares all members of two objects but one.
func equalBut(a, b map[string]any, but string, same func(a, b any) bool) bool {
	for name, v := range a {
		if name != but && !same(v, member(b, name)) {
			return false
		}
	}
	for name, v := range b {
		if _, both := a[name]; !both && name != but && !same(absent, v) {
			return false
		}
	}
	return true
}
