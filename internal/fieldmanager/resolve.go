package fieldmanager

import (
	"math/bits"
	"slices"
	"strings"

	smd "sigs.k8s.io/structured-merge-diff/v4/schema"
)

// A resolvedType is a type of a schema whose references have been resolved. A
// value may be a scalar, a list or a map, as far as the type has that variant.
// A type without any variant comes from a dangling reference.
type resolvedType struct {
	scalar *smd.Scalar
	list   *listType
	object *mapType
}

func (s *resolvedType) empty() bool { return s.scalar == nil && s.list == nil && s.object == nil }

// matches reports whether v and everything in it match the type.
func (s *resolvedType) matches(v any) bool {
	switch v := v.(type) {
	case nil:
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
	name   string
	prefix string // of the key in a step
	absent any
}

func (k keyField) String() string { return k.name }

// A mapType is the type of a map or a struct.
type mapType struct {
	atomic bool
	fields fieldTable
	other  *resolvedType // the type of unknown fields
}

// field returns the step to a field, and its type.
func (m *mapType) field(name string) (pathStep, *resolvedType) {
	if f := m.fields.find(name); f != nil {
		return f.step, f.resolvedType
	}
	return pathStep{text: "f:" + name}, m.other
}

// typeOf returns the type of a field.
func (m *mapType) typeOf(name string) *resolvedType {
	if f := m.fields.find(name); f != nil {
		return f.resolvedType
	}
	return m.other
}

// A field is a field of a struct.
type field struct {
	name string
	step pathStep
	*resolvedType
}

// A fieldTable finds the fields of a struct by their names. It is a hash table that is at
// most half full, so that probing ends early. For field names it is faster than a map.
type fieldTable []*field

func newFieldTable(fields []field) fieldTable {
	if len(fields) == 0 {
		return nil
	}
	t := make(fieldTable, 1<<bits.Len(uint(2*len(fields)-1)))
	for i := range fields {
		at := nameHash(fields[i].name) % uint32(len(t))
		for t[at] != nil {
			at = (at + 1) % uint32(len(t))
		}
		t[at] = &fields[i]
	}
	return t
}

// find returns the field of a name, nil if there is none.
func (t fieldTable) find(name string) *field {
	if len(t) == 0 {
		return nil
	}
	last := uint32(len(t) - 1) // of a power of two
	for at := nameHash(name) & last; t[at&last] != nil; at++ {
		if f := t[at&last]; f.name == name {
			return f
		}
	}
	return nil
}

// nameHash hashes the name of a field.
func nameHash(name string) uint32 {
	const odd = 0x9e3779b97f4a7c15
	h := uint64(len(name))
	for ; len(name) > 8; name = name[8:] {
		h = (h ^ word(name)) * odd
	}
	var rest uint64
	for i := range len(name) {
		rest = rest<<8 | uint64(name[i])
	}
	return uint32((h ^ rest) * odd >> 32)
}

// word returns the first eight bytes of s.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// A resolver resolves the types of a schema.
type resolver struct {
	schema *smd.Schema
	named  map[string]*resolvedType // includes types that are still being resolved: types may be recursive

	partialKeys bool // see Kind
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

func (r resolver) list(l *smd.List) *listType {
	out := &listType{atomic: l.ElementRelationship == smd.Atomic, element: r.resolve(l.ElementType), partial: r.partialKeys}
	element, _ := r.schema.Resolve(l.ElementType)
	for _, name := range l.Keys {
		key := keyField{name: name, prefix: string(append(appendString(nil, name), ':'))}
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
	fields := make([]field, len(m.Fields)) // sorted by name
	for i, f := range m.Fields {
		fields[i] = field{f.Name, newFieldStep(f.Name, i), r.resolve(f.Type)}
	}
	return &mapType{atomic: m.ElementRelationship == smd.Atomic, fields: newFieldTable(fields), other: r.resolve(m.ElementType)}
}
