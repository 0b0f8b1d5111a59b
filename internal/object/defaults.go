package object

import (
	"maps"
	"slices"
)

// SetDefault sets a field if it is absent.
func SetDefault(obj map[string]any, name string, v any) {
	if obj[name] == nil {
		obj[name] = v
	}
}

// SetDefaultIfZero sets a field if it is absent, "" or 0. Use it for fields whose
// Go type is not a pointer.
func SetDefaultIfZero(obj map[string]any, name string, v any) {
	switch obj[name] {
	case nil, "", int64(0):
		obj[name] = v
	}
}

// Put sets a field to a scalar, unless it has that value: other objects may share obj as long as
// it does not change.
func Put(obj map[string]any, name string, v any) {
	if obj[name] != v {
		obj[name] = v
	}
}

// Remove removes a field if it is present: other objects may share obj as long as it does not
// change.
func Remove(obj map[string]any, name string) {
	if Has(obj, name) {
		delete(obj, name)
	}
}

// EnsureMap returns the object in a field. It sets the field to an empty object if
// it is absent.
func EnsureMap(obj map[string]any, name string) map[string]any {
	if m, ok := obj[name].(map[string]any); ok {
		return m
	}
	m := map[string]any{}
	obj[name] = m
	return m
}

// Own returns the object in a field, for a caller that changes its fields: the field is
// set to a shallow copy, so that the change reaches no other object that shares it. The
// copy is empty if the field is absent.
func Own(obj map[string]any, name string) map[string]any {
	old, _ := obj[name].(map[string]any)
	own := ShallowCopy(old)
	obj[name] = own
	return own
}

// OwnItems is Own for each of the objects in the list in a field. It does nothing if the field has no
// list.
func OwnItems(obj map[string]any, name string) {
	list, ok := obj[name].([]any)
	if !ok {
		return
	}
	own := slices.Clone(list)
	for i, v := range own {
		if item, ok := v.(map[string]any); ok {
			own[i] = ShallowCopy(item)
		}
	}
	obj[name] = own
}

// PruneItems removes the fields for which drop returns true from the objects in the list in a field.
// The change reaches no other object that shares them.
func PruneItems(obj map[string]any, name string, drop func(field string) bool) {
	for item := range Each(obj[name]) {
		for field := range item {
			if drop(field) {
				OwnItems(obj, name)
				for own := range Each(obj[name]) {
					maps.DeleteFunc(own, func(field string, _ any) bool { return drop(field) })
				}
				return
			}
		}
	}
}

// A Default is the name of a field and its default.
type Default struct {
	Name  string
	Value any
}

// ShallowCopy returns a shallow copy of m. The copy is never nil.
func ShallowCopy(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return maps.Clone(m)
}

// SetDefaults calls SetDefault for several fields.
func SetDefaults(obj map[string]any, defaults []Default) {
	for _, d := range defaults {
		SetDefault(obj, d.Name, d.Value)
	}
}

// Has reports whether m has the key. The value may be nil.
func Has(m map[string]any, key string) bool {
	_, ok := m[key]
	return ok
}
