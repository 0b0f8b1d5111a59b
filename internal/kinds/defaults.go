package kinds

import "github.com/kubefake/kubefake/internal/validation"

// The rules of defaulting are written with a few verbs on generic objects.
// Objects are canonical when a rule sees them: an optional member that was not
// sent is absent, one whose Go field has no omitempty is there with its zero; a
// list or map that was sent empty is there.

// fill gives obj a member that it lacks.
func fill(obj map[string]any, name string, v any) {
	if obj[name] == nil {
		obj[name] = v
	}
}

// fillZero gives obj a member that it lacks or that is zero: for members that
// the API keeps by value, whose zero is as good as none.
func fillZero(obj map[string]any, name string, v any) {
	switch obj[name] {
	case nil, "", int64(0):
		obj[name] = v
	}
}

// child is the object at a member of obj, made if there is none.
func child(obj map[string]any, name string) map[string]any {
	if m, ok := obj[name].(map[string]any); ok {
		return m
	}
	m := map[string]any{}
	obj[name] = m
	return m
}

// A member is a name with the value that fills it.
type member struct {
	name  string
	value any
}

// copied is a shallow copy of m, to be changed.
func copied(m map[string]any) map[string]any {
	out := make(map[string]any, len(m)+1)
	for k, v := range m {
		out[k] = v
	}
	return out
}

// fillAll fills several members.
func fillAll(obj map[string]any, members []member) {
	for _, m := range members {
		fill(obj, m.name, m.value)
	}
}

// inherit gives obj those of the members that it lacks and old has.
func inherit(obj, old map[string]any, names ...string) {
	for _, name := range names {
		if v := old[name]; v != nil && validation.Equal(obj[name], nil) {
			obj[name] = v
		}
	}
}

// without takes a member from obj unless old has it: what a disabled feature
// gate does to its field.
func without(obj, old map[string]any, name string) {
	if old[name] == nil {
		delete(obj, name)
	}
}

// copyLabels gives dst the labels of src if it has none, and reports whether it
// did.
func copyLabels(dst map[string]any, src any) bool {
	labels, _ := src.(map[string]any)
	own, _ := dst["labels"].(map[string]any)
	if len(labels) == 0 || len(own) > 0 {
		return false
	}
	dst["labels"] = copied(labels)
	return true
}

// dropAnnotations takes annotations from an object that stand for what it has
// fields for.
func dropAnnotations(obj map[string]any, names []string) {
	meta, _ := obj["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if len(annotations) == 0 {
		return
	}
	for _, name := range names {
		delete(annotations, name)
	}
	if len(annotations) == 0 {
		delete(meta, "annotations")
	}
}
