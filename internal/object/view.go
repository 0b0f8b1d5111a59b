package object

import (
	"iter"
	"maps"
	"slices"
	"strconv"
)

// A View is a value of an Object: an object, a list, a string, an int64, a float64, a bool, or
// nothing, for null and for an absent field. It cannot be written to.
//
// Methods with a path read the field at the path. They return the zero value if the field is absent
// or of another type.
type View struct{ v any }

// ViewOf returns a view of a value in generic form, for functions that only read: they take the
// objects that are stored and those that are being written. A nil map or list is nothing.
func ViewOf(v any) View {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return View{}
		}
	case []any:
		if v == nil {
			return View{}
		}
	}
	return View{v}
}

// At returns the field at the path.
func (v View) At(path ...string) View {
	if len(path) == 0 {
		return v
	}
	return View{Value(v.SharedMembers(), path...)}
}

// String returns the string at the path, or "".
func (v View) String(path ...string) string {
	s, _ := v.At(path...).v.(string)
	return s
}

// Text returns the value at the path as field selectors compare it: a string, or the text of an integer
// or a boolean. It returns "" for other values.
func (v View) Text(path ...string) string {
	switch v := v.At(path...).v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return ""
}

// Bool returns the boolean at the path, or false.
func (v View) Bool(path ...string) bool {
	b, _ := v.At(path...).v.(bool)
	return b
}

// Int returns the integer at the path, and reports whether there is one.
func (v View) Int(path ...string) (n int64, ok bool) {
	n, ok = v.At(path...).v.(int64)
	return n, ok
}

// Strings returns the strings of the list at the path. It skips items of other types.
func (v View) Strings(path ...string) []string {
	return Strings(map[string]any{"": v.At(path...).SharedItems()}, "")
}

// Len returns the number of fields of the object or of items of the list at the path, and 0 for
// other values.
func (v View) Len(path ...string) int {
	switch v := Plain(v.At(path...).v).(type) {
	case map[string]any:
		return len(v)
	case []any:
		return len(v)
	}
	return 0
}

// Has reports whether an object has the field. It may be null.
func (v View) Has(name string) bool { return Has(v.SharedMembers(), name) }

// IsNil reports whether the field at the path is null or absent.
func (v View) IsNil(path ...string) bool { return v.At(path...).v == nil }

// IsObject reports whether the value is an object.
func (v View) IsObject() bool {
	_, ok := Plain(v.v).(map[string]any)
	return ok
}

// Condition returns the first of status.conditions with the type and the status, or nothing.
func (v View) Condition(typ, status string) View {
	for c := range v.At("status", "conditions").Objects() {
		if c.String("type") == typ && c.String("status") == status {
			return c
		}
	}
	return View{}
}

// Fields iterates over the fields of an object, in any order.
func (v View) Fields() iter.Seq2[string, View] {
	return func(yield func(string, View) bool) {
		for name, field := range v.SharedMembers() {
			if !yield(name, View{field}) {
				return
			}
		}
	}
}

// Keys returns the names of the fields of an object, sorted.
func (v View) Keys() []string { return slices.Sorted(maps.Keys(v.SharedMembers())) }

// Items iterates over the items of a list.
func (v View) Items() iter.Seq2[int, View] {
	return func(yield func(int, View) bool) {
		for i, item := range v.SharedItems() {
			if !yield(i, View{item}) {
				return
			}
		}
	}
}

// Objects iterates over the objects in a list. It skips items of other types.
func (v View) Objects() iter.Seq[View] {
	return func(yield func(View) bool) {
		for item := range Each(v.v) {
			if !yield(View{item}) {
				return
			}
		}
	}
}

// Item returns an item of a list, and panics if there is none.
func (v View) Item(i int) View { return View{v.v.([]any)[i]} }

// ControllerOf returns the owner reference of the object that is its controller, or nothing.
func (v View) ControllerOf() View {
	for ref := range v.At("metadata", "ownerReferences").Objects() {
		if ref.Bool("controller") {
			return ref
		}
	}
	return View{}
}

// ControlledBy reports whether the controller of the object is the object with the UID.
func (v View) ControlledBy(uid string) bool {
	ref := v.ControllerOf()
	return !ref.IsNil() && ref.String("uid") == uid
}

// Equal reports whether two values are deeply equal. It is fast for what they share.
func (v View) Equal(other View) bool { return Equal(v.v, other.v) }

// EqualTo is Equal for a value in generic form.
func (v View) EqualTo(other any) bool { return v.Equal(ViewOf(other)) }

// Shares reports whether two values are equal scalars, or the same object or list in memory.
func (v View) Shares(other View) bool { return Identical(v.v, other.v) }

// EqualExcept reports whether the members of two objects are deeply equal, except those of a name,
// which both must have or both lack.
func (v View) EqualExcept(other View, except string) bool {
	a, b := v.SharedMembers(), other.SharedMembers()
	if len(a) != len(b) {
		return false
	}
	for name, member := range a {
		if was, ok := b[name]; !ok || name != except && !Equal(member, was) {
			return false
		}
	}
	return true
}

// Same reports whether two values are the same object or list in memory.
func (v View) Same(other View) bool { return Same(v.v, other.v) }

// SharesMembers reports whether the members of two objects are equal scalars or the same in memory,
// except those of some names, which either may lack.
func (v View) SharesMembers(other View, except ...string) bool {
	if v.Same(other) {
		return true
	}
	a, b := v.SharedMembers(), other.SharedMembers()
	shared := 0
	for name, member := range a {
		if slices.Contains(except, name) {
			continue
		}
		if was, ok := b[name]; !ok || !Identical(member, was) {
			return false
		}
		shared++
	}
	return shared == lenBeside(b, except)
}

// lenBeside returns the number of members of an object, without those of some names.
func lenBeside(m map[string]any, except []string) int {
	n := len(m)
	for _, name := range except {
		if Has(m, name) {
			n--
		}
	}
	return n
}

// Shared returns the value in generic form, without a copy. The caller does not write to it: it belongs
// to the Object, and may also become part of another one.
func (v View) Shared() any { return v.v }

// SharedMembers is Shared for an object, and returns nil for other values.
func (v View) SharedMembers() map[string]any {
	m, _ := Plain(v.v).(map[string]any)
	return m
}

// SharedItems is Shared for a list, and returns nil for other values.
func (v View) SharedItems() []any {
	list, _ := v.v.([]any)
	return list
}

// ShallowCopy returns a map with the members of an object, which are shared. It is never nil.
func (v View) ShallowCopy() map[string]any {
	return ShallowCopy(v.SharedMembers())
}

// Copy returns the value in generic form. The caller owns it.
func (v View) Copy() any { return Copy(v.v) }

// CopyObject is Copy for an object. It returns nil for other values.
func (v View) CopyObject() map[string]any {
	return Copy(v.SharedMembers())
}
