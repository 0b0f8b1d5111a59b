package fieldmanager

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
	smd "sigs.k8s.io/structured-merge-diff/v4/schema"
)

// A resolvedType is a type of a schema whose references have been resolved. A
// value may be a scalar, a list or a map, as far as the type has that variant.
// A type without any variant comes from a dangling reference.
type resolvedType struct {
	scalar *smd.Scalar
	list   *listType
	object *mapType

	// keyed is whether a value may have, at any depth, list elements that need keys.
	keyed bool

	// quantity and time are whether the values are quantities or times, and respelled is whether a value
	// may have a list, at any depth, that is owned as a whole and has some.
	quantity, time, respelled bool
}

func (s *resolvedType) empty() bool { return s.scalar == nil && s.list == nil && s.object == nil }

// matches reports whether v and everything in it match the type.
func (s *resolvedType) matches(v any) bool {
	switch v := v.(type) {
	case nil, object.RawJSON:
		return !s.empty()
	case []any:
		return s.list != nil && s.list.matches(v)
	case map[string]any:
		return s.object != nil && s.object.matches(v)
	}
	return s.scalar != nil && allows(*s.scalar, v)
}

func (l *listType) matches(list []any) bool {
	for _, v := range list {
		if !l.element.matches(v) {
			return false
		}
		if l.atomic {
			continue
		}
		if _, err := l.step(v); err != nil {
			return false
		}
	}
	return true
}

func (m *mapType) matches(members map[string]any) bool {
	for name, v := range members {
		if !m.typeOf(name).matches(v) {
			return false
		}
	}
	return true
}

// A listType is the type of a list. Its elements are identified by keys or, if
// there are none, by their values.
type listType struct {
	atomic  bool
	keys    []keyField
	sorted  []keyField // keys by name
	element *resolvedType
	partial bool // an element may omit some keys
}

// A keyField is a key of a map list and its default, nil if it has none.
type keyField struct {
	name    string
	prefix  string // of the key in a step
	absent  any
	written bool // whether an element always has it
}

func (k keyField) String() string { return k.name }

// of returns the key of an element, absent if it omits the key.
func (k *keyField) of(element map[string]any) any {
	if v, ok := element[k.name]; ok {
		return v
	}
	if k.absent != nil {
		return k.absent
	}
	return absent
}

// A mapType is the type of a map or a struct.
type mapType struct {
	atomic bool
	byName wire.NameTable // positions in fields
	fields []field        // sorted by name
	keyed  []*field       // those whose types are keyed
	listed []*field       // those whose types are respelled
	other  *resolvedType  // the type of unknown fields
}

// field returns the step to a field, its type, and whether the struct has the field.
func (m *mapType) field(name string) (step pathStep, s *resolvedType, known bool) {
	if i := m.byName.Find(name); i >= 0 {
		f := &m.fields[i]
		return f.step, f.resolvedType, true
	}
	return pathStep{text: "f:" + name}, m.other, false
}

// typeOf returns the type of a field.
func (m *mapType) typeOf(name string) *resolvedType {
	if i := m.byName.Find(name); i >= 0 {
		return m.fields[i].resolvedType
	}
	return m.other
}

// A field is a field of a struct.
type field struct {
	step pathStep
	*resolvedType
}

func (f *field) name() string { return strings.TrimPrefix(f.step.text, "f:") }

// A resolver resolves the types of a schema.
type resolver struct {
	schema *smd.Schema
	named  map[string]*resolvedType // includes types that are still being resolved: types may be recursive

	partialKeys bool // see Kind
	// written are the fields that objects always have, by the names of their types: the required
	// fields of built-in kinds, whose objects were decoded into their Go types.
	written map[string][]string
}

// resolve returns the type that ref refers to.
func (r resolver) resolve(ref smd.TypeRef) *resolvedType {
	if ref.NamedType != nil {
		if known, ok := r.named[*ref.NamedType]; ok {
			return known
		}
	}
	out := &resolvedType{}
	if ref.NamedType != nil {
		r.named[*ref.NamedType] = out
		out.quantity, out.time = *ref.NamedType == quantityType, *ref.NamedType == timeType
	}
	atom, ok := r.schema.Resolve(ref)
	if !ok {
		return out
	}
	out.scalar = atom.Scalar
	if atom.List != nil {
		out.list = r.list(atom.List)
	}
	if atom.Map != nil {
		out.object = r.object(atom.Map)
	}
	return out
}

// markKeyed finds the keyed types among those that r has resolved. Lists and maps are named
// types, which may be recursive.
func (r resolver) markKeyed() {
	for again := true; again; {
		again = false
		for _, s := range r.named {
			if !s.keyed && s.needsKeys() {
				s.keyed, again = true, true
			}
		}
	}
	for _, s := range r.named {
		if s.object == nil {
			continue
		}
		for i := range s.object.fields {
			if f := &s.object.fields[i]; f.keyed {
				s.object.keyed = append(s.object.keyed, f)
			}
		}
	}
}

// needsKeys reports whether hasKeys may be false for an element of the list that matches its
// type.
func (l *listType) needsKeys() bool {
	if l.atomic || len(l.keys) == 0 {
		return !l.atomic && (l.element.list != nil || l.element.object != nil)
	}
	required := 0
	for _, k := range l.keys {
		if k.absent == nil && !k.written {
			required++
		}
	}
	return required > 0 && (!l.partial || required == len(l.keys))
}

// needsKeys reports whether s is the type of a list whose elements need keys, or contains a type
// that is known to be keyed.
func (s *resolvedType) needsKeys() bool {
	if l := s.list; l != nil && (l.element.keyed || l.needsKeys()) {
		return true
	}
	m := s.object
	return m != nil && (m.other.keyed || slices.ContainsFunc(m.fields, func(f field) bool { return f.keyed }))
}

func (r resolver) list(l *smd.List) *listType {
	out := &listType{atomic: l.ElementRelationship == smd.Atomic, element: r.resolve(l.ElementType), partial: r.partialKeys}
	element, _ := r.schema.Resolve(l.ElementType)
	for _, name := range l.Keys {
		key := keyField{name: name, prefix: string(append(appendString(nil, name), ':'))}
		if element := l.ElementType.NamedType; element != nil {
			key.written = slices.Contains(r.written[*element], name)
		}
		if element.Map != nil {
			f, _ := element.Map.FindField(name)
			key.absent = f.Default
		}
		out.keys = append(out.keys, key)
	}
	out.sorted = slices.SortedFunc(slices.Values(out.keys), func(a, b keyField) int { return strings.Compare(a.name, b.name) })
	return out
}

func (r resolver) object(m *smd.Map) *mapType {
	out := &mapType{atomic: m.ElementRelationship == smd.Atomic, fields: make([]field, len(m.Fields)), other: r.resolve(m.ElementType)}
	fieldNames := make([]string, len(m.Fields))
	for i, f := range m.Fields { // sorted by name
		fieldNames[i] = f.Name
		out.fields[i] = field{newFieldStep(f.Name, i), r.resolve(f.Type)}
	}
	out.byName = wire.NewNameTable(fieldNames)
	return out
}
