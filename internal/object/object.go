package object

import "iter"

// An Object is an API object that never changes. It is compared by its pointer: what a change
// makes of it is another Object.
type Object struct {
	View
	seal seal
}

// FromMap returns an Object with the fields of m, without copying them. m and what is within it
// belong to the Object: the caller does not write to them any more.
func FromMap(m map[string]any) *Object {
	return &Object{View{m}, sealed(m)}
}

// Map returns the fields of the object for packages that read maps. They do not write to the map
// or to what is within it.
func (o *Object) Map() map[string]any {
	o.seal.check(o.v)
	m, _ := o.v.(map[string]any)
	return m
}

// A View is a value of an Object: an object, a list, a string, an int64, a float64, a bool, or
// nothing, for null and for an absent field. It cannot be written to.
//
// Methods with a path read the field at the path. They return the zero value if the field is absent
// or of another type.
type View struct{ v any }

// ViewOf returns a view of an object in generic form, for functions that only read: they take the
// objects that are stored and those that are being written.
func ViewOf(m map[string]any) View { return View{m} }

// At returns the field at the path.
func (v View) At(path ...string) View {
	if len(path) == 0 {
		return v
	}
	m, _ := Plain(v.v).(map[string]any)
	return View{Value(m, path...)}
}

// String returns the string at the path, or "".
func (v View) String(path ...string) string {
	s, _ := v.At(path...).v.(string)
	return s
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
	list, _ := v.At(path...).v.([]any)
	return Strings(map[string]any{"": list}, "")
}

// Len returns the number of fields of an object or of items of a list, and 0 for other values.
func (v View) Len() int {
	switch v := Plain(v.v).(type) {
	case map[string]any:
		return len(v)
	case []any:
		return len(v)
	}
	return 0
}

// IsNil reports whether the field is null or absent.
func (v View) IsNil() bool { return v.v == nil }

// IsObject reports whether the value is an object.
func (v View) IsObject() bool {
	_, ok := Plain(v.v).(map[string]any)
	return ok
}

// Condition returns the first of status.conditions with the type and the status, or nothing.
func (v View) Condition(typ, status string) View {
	for _, c := range v.At("status", "conditions").Items() {
		if c.String("type") == typ && c.String("status") == status {
			return c
		}
	}
	return View{}
}

// Fields iterates over the fields of an object, in any order.
func (v View) Fields() iter.Seq2[string, View] {
	return func(yield func(string, View) bool) {
		m, _ := Plain(v.v).(map[string]any)
		for name, field := range m {
			if !yield(name, View{field}) {
				return
			}
		}
	}
}

// Items iterates over the items of a list.
func (v View) Items() iter.Seq2[int, View] {
	return func(yield func(int, View) bool) {
		list, _ := v.v.([]any)
		for i, item := range list {
			if !yield(i, View{item}) {
				return
			}
		}
	}
}

// Equal reports whether two values are deeply equal. It is fast for what they share.
func (v View) Equal(other View) bool { return Equal(v.v, other.v) }

// EqualTo is Equal for a value in generic form.
func (v View) EqualTo(other any) bool { return Equal(v.v, other) }

// Shares reports whether two values are equal scalars, or the same object or list in memory.
func (v View) Shares(other View) bool { return Identical(v.v, other.v) }

// Copy returns the value in generic form. The caller owns it.
func (v View) Copy() any { return Copy(v.v) }
