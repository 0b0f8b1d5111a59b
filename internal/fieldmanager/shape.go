package fieldmanager

import (
	"slices"
	"strings"
	"sync/atomic"
)

// A shape is what the field set of a new object depends on: the names of the members of its
// objects, the keys of the elements of its lists, and the sorts of its other values. Objects
// of one controller mostly have the same shape, and comparing an object with a shape is much
// less work than collecting its fields.
type shape struct {
	name   string // of the member of an object
	sort   valueSort
	value  any           // of a fixedValue
	atomic *resolvedType // the type of an atomicValue
	parts  []shape       // the members of an objectValue, the elements of a listValue
}

// A valueSort is a set of values that have the same fields and that match the same types.
type valueSort uint8

const (
	fixedValue  valueSort = iota // one value: null, a key, and what is compared with a value of the zero object
	textValue                    // any string
	truthValue                   // any bool
	numberValue                  // any number
	atomicValue                  // any list or map that the atomic type matches, without empty lists and maps in it
	objectValue                  // an object with certain members
	listValue                    // a list with certain elements, at least one
)

// fits reports whether v has the shape.
func (s *shape) fits(v any) bool {
	switch s.sort {
	case textValue:
		_, ok := v.(string)
		return ok
	case objectValue:
		members, ok := v.(map[string]any)
		if !ok || len(members) != len(s.parts) {
			return false
		}
		for i := range s.parts {
			part := &s.parts[i]
			v, ok := members[part.name]
			if !ok || !part.fits(v) {
				return false
			}
		}
		return true
	case listValue:
		list, ok := v.([]any)
		if !ok || len(list) != len(s.parts) {
			return false
		}
		for i := range s.parts {
			if !s.parts[i].fits(list[i]) {
				return false
			}
		}
		return true
	case truthValue:
		_, ok := v.(bool)
		return ok
	case numberValue:
		return isNumber(v)
	case atomicValue:
		return s.atomic.isAtomic(v) && !containsEmpty(v) && s.atomic.matches(v)
	}
	return v == s.value // which is comparable
}

// fitsMetadata is fits for an object that differs only in its metadata from one that fits.
func (s *shape) fitsMetadata(obj map[string]any) bool {
	for i := range s.parts {
		if part := &s.parts[i]; part.name == "metadata" {
			return part.fits(obj["metadata"])
		}
	}
	return obj["metadata"] == nil
}

func isNumber(v any) bool {
	switch v.(type) {
	case int64, float64:
		return true
	}
	return false
}

// isAtomic reports whether v is a list or a map that is owned as a whole.
func (s *resolvedType) isAtomic(v any) bool {
	switch v.(type) {
	case []any:
		return s.list != nil && s.list.atomic
	case map[string]any:
		return s.object != nil && s.object.atomic
	}
	return false
}

// maxShape is the number of bytes that a shape may occupy, and partSize that of each part
// without its texts.
const maxShape, partSize = 64 << 10, 80

// A shaper makes the shape of one object.
type shaper struct{ left int } // bytes

// shapeOf returns the shape of an object that is compared with zero, nil if it is too large,
// or if the fields of similar objects may differ: if it has an empty list, an empty map that
// JSON omits, or a value that does not match its type.
func shapeOf(t *resolvedType, zero, obj map[string]any) *shape {
	var out shape
	s := shaper{maxShape}
	if !s.value(&out, t, zero, obj) {
		return nil
	}
	return &out
}

// value makes to the shape of v. zero is the value of the zero object there. Like the
// methods below, it reports whether there is a shape.
func (s *shaper) value(to *shape, t *resolvedType, zero, v any) bool {
	unset := zero == absent || zero == nil // differs from all values but null
	switch v := v.(type) {
	case nil:
		return !t.empty() // to is a fixedValue
	case string:
		to.sort = textValue
	case bool:
		to.sort = truthValue
	case int64, float64:
		to.sort = numberValue
	case map[string]any:
		if t.object != nil && t.object.atomic {
			return unset && s.atomic(to, t, v)
		}
		was, isObject := zero.(map[string]any)
		return (unset || isObject) && s.members(to, t.object, was, v)
	case []any:
		if t.list != nil && t.list.atomic {
			return unset && s.atomic(to, t, v)
		}
		return unset && s.elements(to, t.list, v)
	default:
		return false
	}
	return t.scalar != nil && allows(*t.scalar, v) && (unset || s.fix(to, v))
}

// atomic makes to the shape of a value that is owned as a whole.
func (s *shaper) atomic(to *shape, t *resolvedType, v any) bool {
	to.sort, to.atomic = atomicValue, t
	return !containsEmpty(v) && t.matches(v)
}

// members makes to the shape of an object with these members.
func (s *shaper) members(to *shape, t *mapType, zero, members map[string]any) bool {
	if t == nil || !s.take(len(members)*partSize) {
		return false
	}
	to.sort, to.parts = objectValue, make([]shape, 0, len(members))
	for name, v := range members {
		part := shape{name: strings.Clone(name)} // name is a part of a body
		if !s.take(len(name)) || !s.value(&part, t.typeOf(name), member(zero, name), v) {
			return false
		}
		to.parts = append(to.parts, part)
	}
	return true
}

// elements makes to the shape of a list with these elements.
func (s *shaper) elements(to *shape, t *listType, list []any) bool {
	if t == nil || len(list) == 0 || !s.take(len(list)*partSize) {
		return false
	}
	to.sort, to.parts = listValue, make([]shape, len(list))
	for i, v := range list {
		if !s.element(&to.parts[i], t, v) {
			return false
		}
	}
	return true
}

// element makes to the shape of an element with the keys of v.
func (s *shaper) element(to *shape, t *listType, v any) bool {
	if len(t.keys) == 0 {
		return s.fix(to, v)
	}
	members, ok := v.(map[string]any)
	if !ok || !s.members(to, t.element.object, nil, members) {
		return false
	}
	for i := range to.parts {
		part := &to.parts[i]
		isKey := slices.ContainsFunc(t.keys, func(k keyField) bool { return k.name == part.name })
		if isKey && part.sort != fixedValue && !s.fix(part, members[part.name]) {
			return false
		}
	}
	return true
}

// fix restricts a shape to one value.
func (s *shaper) fix(to *shape, v any) bool {
	switch value := v.(type) {
	case string:
		if !s.take(len(value)) {
			return false
		}
		v = strings.Clone(value) // a part of a body
	case bool, int64, float64:
	default:
		return false
	}
	to.sort, to.value = fixedValue, v
	return true
}

// take reports whether n more bytes are left, and takes them.
func (s *shaper) take(n int) bool {
	s.left -= n
	return s.left >= 0
}

// A prediction is the field set of the last new object of a type, and the shape of objects
// that have it too.
type prediction struct {
	fields   *fieldSet
	filter   *Filter
	repeated bool                // the object before it had the same fields
	shape    *shape              // nil unless repeated, and if the first object that repeated them has none
	members  atomic.Pointer[any] // Options.Members of an object that has the shape, nil if unknown
}

// predicted returns the field set of a new object, nil if it is not known without
// collecting its fields.
func (t *Type) predicted(obj map[string]any, o *Options) *fieldSet {
	p := t.prediction.Load()
	if p == nil || p.shape == nil || p.filter != o.Fields {
		return nil
	}
	if members := p.members.Load(); members != nil && o.Members == *members {
		if !p.shape.fitsMetadata(obj) {
			return nil
		}
		return p.fields
	}
	if !p.shape.fits(obj) {
		return nil
	}
	if o.Members != nil {
		members := o.Members
		p.members.Store(&members)
	}
	return p.fields
}

// predict expects the next new object to have the same fields as obj.
func (t *Type) predict(obj map[string]any, f *Filter, fields *fieldSet) {
	if len(fields.text) > maxShape {
		return
	}
	next := &prediction{fields: fields, filter: f}
	if p := t.prediction.Load(); p != nil && p.filter == f && p.fields == fields {
		if p.repeated && p.shape == nil {
			return
		}
		next.repeated, next.shape = true, shapeOf(t.compiled().types, t.zero, obj)
	}
	t.prediction.Store(next)
}
