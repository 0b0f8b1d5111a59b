package fieldmanager

import (
	smd "sigs.k8s.io/structured-merge-diff/v4/schema"
)

// A shape is a type of a schema with its references followed, for comparing to
// walk: a value has one of its forms. A shape without any is that of a reference
// that leads nowhere.
type shape struct {
	scalar *smd.Scalar
	list   *listShape
	object *mapShape
}

func (s *shape) empty() bool { return s.scalar == nil && s.list == nil && s.object == nil }

// has reports whether a value has the shape, with all that is in it.
func (s *shape) has(v any) bool {
	switch v := v.(type) {
	case nil:
		return !s.empty()
	case []any:
		return s.list != nil && s.list.has(v)
	case map[string]any:
		return s.object != nil && s.object.has(v)
	}
	return s.scalar != nil && fits(*s.scalar, v)
}

func (l *listShape) has(list []any) bool {
	for _, v := range list {
		if !l.element.has(v) {
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

func (m *mapShape) has(members map[string]any) bool {
	for name, v := range members {
		if _, s := m.field(name); !s.has(v) {
			return false
		}
	}
	return true
}

// A listShape is that of a list whose elements are told apart by keys or, if it
// has none, by their values.
type listShape struct {
	atomic  bool
	keys    []keyField
	element *shape
}

// A keyField is a field that tells elements apart, and the value it has where
// they leave it out; nil if it has none.
type keyField struct {
	name   string
	absent any
}

func (k keyField) String() string { return k.name }

// A mapShape is that of a map or a struct.
type mapShape struct {
	atomic bool
	fields map[string]fieldShape
	other  *shape // of the fields that it does not know
}

type fieldShape struct {
	step string
	*shape
}

// field is a field and the step to it.
func (m *mapShape) field(name string) (string, *shape) {
	if f, ok := m.fields[name]; ok {
		return f.step, f.shape
	}
	return "f:" + name, m.other
}

// shapes makes shapes of the types of a schema.
type shapes struct {
	schema *smd.Schema
	named  map[string]*shape // those that are being made, too: types may be circles
}

// of is the shape of the type that ref refers to.
func (s shapes) of(ref smd.TypeRef) *shape {
	if ref.NamedType != nil {
		if known, ok := s.named[*ref.NamedType]; ok {
			return known
		}
	}
	out := &shape{}
	if ref.NamedType != nil {
		s.named[*ref.NamedType] = out
	}
	atom, ok := s.schema.Resolve(ref)
	if !ok {
		return out
	}
	out.scalar = atom.Scalar
	if atom.List != nil {
		out.list = s.list(atom.List)
	}
	if atom.Map != nil {
		out.object = s.object(atom.Map)
	}
	return out
}

func (s shapes) list(l *smd.List) *listShape {
	out := &listShape{atomic: l.ElementRelationship == smd.Atomic, element: s.of(l.ElementType)}
	element, _ := s.schema.Resolve(l.ElementType)
	for _, name := range l.Keys {
		key := keyField{name: name}
		if element.Map != nil {
			f, _ := element.Map.FindField(name)
			key.absent = f.Default
		}
		out.keys = append(out.keys, key)
	}
	return out
}

func (s shapes) object(m *smd.Map) *mapShape {
	out := &mapShape{atomic: m.ElementRelationship == smd.Atomic, fields: make(map[string]fieldShape, len(m.Fields)), other: s.of(m.ElementType)}
	for _, f := range m.Fields {
		out.fields[f.Name] = fieldShape{"f:" + f.Name, s.of(f.Type)}
	}
	return out
}
