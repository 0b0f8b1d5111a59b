package apply

import (
	"maps"

	"github.com/kubefake/kubefake/internal/object"
)

// KeepTimes returns obj, which is about to take the place of live, with the
// managedFields of live if their times are all that would change: such a write
// is none. Otherwise it returns obj as it is. Both are in canonical form; a list
// that obj has empty and live has not is a change.
func KeepTimes(live, obj map[string]any) map[string]any {
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
	if same || !equalBut(live, obj, "metadata") || !equalBut(metadata(live), metadata(obj), "managedFields") {
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
	return equalBut(x, y, "time"), x["time"] == y["time"]
}

// equalBut compares all members of two objects but one.
func equalBut(a, b map[string]any, but string) bool {
	count := func(m map[string]any) int {
		if _, ok := m[but]; ok {
			return len(m) - 1
		}
		return len(m)
	}
	if count(a) != count(b) {
		return false
	}
	for name, v := range a {
		w, ok := b[name]
		if name != but && !(ok && object.Equal(v, w)) {
			return false
		}
	}
	return true
}
