package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	generic "github.com/kubefake/kubefake/internal/object"
)

// A Change is a field that differs between two versions of an object. Old is nil if the field is
// new, New if it is removed.
type Change struct {
	// Path is the path of the field. Elements of lists that have names are named:
	// "spec.template.spec.containers[name=web].image".
	Path string `json:"path"`
	Old  any    `json:"old,omitempty"`
	New  any    `json:"new,omitempty"`
}

// Diff returns the fields that differ between two versions of an object as decoded JSON, in the
// order of their paths. It leaves out what a server sets in each write: managedFields, uid,
// creationTimestamp, resourceVersion and generation. A null is like a missing field.
func Diff(old, new map[string]any) []Change {
	var d differ
	for _, name := range union(old, new) {
		if name == "metadata" {
			d.members(name, withoutWrite(old), withoutWrite(new))
			continue
		}
		d.values(generic.Member("", name), old[name], new[name])
	}
	return d.changes
}

// withoutWrite returns the metadata of an object without what is different in every write.
func withoutWrite(o map[string]any) map[string]any {
	meta := maps.Clone(generic.Map(o, "metadata"))
	for _, name := range []string{"managedFields", "uid", "creationTimestamp", "resourceVersion", "generation"} {
		delete(meta, name)
	}
	return meta
}

// A differ collects changes.
type differ struct{ changes []Change }

// members compares the members of two objects.
func (d *differ) members(path string, old, new map[string]any) {
	for _, name := range union(old, new) {
		d.values(generic.Member(path, name), old[name], new[name])
	}
}

// values compares two values, which are nil if there is none.
func (d *differ) values(path string, old, new any) {
	if generic.Equal(old, new) {
		return
	}
	switch o := old.(type) {
	case map[string]any:
		if n, ok := new.(map[string]any); ok {
			d.members(path, o, n)
			return
		}
	case []any:
		if n, ok := new.([]any); ok && d.elements(path, o, n) {
			return
		}
	}
	d.changes = append(d.changes, Change{path, old, new})
}

// elements compares the elements of two lists by the member that identifies them, or objects by
// their indexes if none does and there are as many. It reports false if it cannot, or if only the
// order differs.
func (d *differ) elements(path string, old, new []any) bool {
	key := generic.SharedKey(old, new)
	if key == "" {
		if len(old) != len(new) || !areObjects(old) || !areObjects(new) {
			return false
		}
		for i := range old {
			d.values(fmt.Sprintf("%s[%d]", path, i), old[i], new[i])
		}
		return true
	}
	before := len(d.changes)
	oldElements, newElements := generic.ByKey(old, key), generic.ByKey(new, key)
	for _, name := range union(oldElements, newElements) {
		d.values(path+"["+key+"="+name+"]", oldElements[name], newElements[name])
	}
	return len(d.changes) > before
}

// areObjects reports whether all elements of a list are objects.
func areObjects(list []any) bool {
	return !slices.ContainsFunc(list, func(e any) bool { _, ok := e.(map[string]any); return !ok })
}

// union returns the names of the members of two objects, sorted.
func union(a, b map[string]any) []string {
	return slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for _, m := range []map[string]any{a, b} {
			for name := range m {
				if !yield(name) {
					return
				}
			}
		}
	}))
}

// hidden stands for a value of a Secret.
const hidden = "(hidden)"

// hideSecrets replaces the values of a Secret in its changes.
func hideSecrets(changes []Change) {
	for i := range changes {
		c := &changes[i]
		if !strings.HasPrefix(c.Path, "data") && !strings.Contains(c.Path, "last-applied-configuration") {
			continue
		}
		for _, v := range []*any{&c.Old, &c.New} {
			if *v != nil {
				*v = hidden
			}
		}
	}
}
