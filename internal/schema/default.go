package schema

import (
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
)

// SetDefaults sets the defaults of the absent fields of an object, and replaces nulls that are not
// allowed by defaults. Defaults are set within defaults too. A map or a list in the object, which
// other objects may share, is not changed: a copy with defaults takes its place. The schema is one
// that FromProps returned, or nil, which has none. It reports whether it changes the object.
func (s *Schema) SetDefaults(obj map[string]any) bool {
	with := s.withDefaults(obj).(map[string]any)
	if object.Same(with, obj) {
		return false
	}
	maps.Copy(obj, with)
	return true
}

// withDefaults returns a value with the defaults of the schema: v, or a copy where it has none.
func (s *Schema) withDefaults(v any) any {
	if s == nil || !s.hasDefaults {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		return s.membersWithDefaults(v)
	case []any:
		return s.elementsWithDefaults(v)
	}
	return v
}

func (s *Schema) membersWithDefaults(obj map[string]any) map[string]any {
	out := obj
	set := func(name string, v any) {
		if object.Same(out, obj) {
			out = maps.Clone(obj)
		}
		out[name] = v
	}
	for name, property := range s.Properties {
		if _, ok := obj[name]; !ok && property.HasDefault {
			set(name, property.newDefault())
		}
	}
	for name, v := range obj {
		if with := s.member(name).replacingNull(v); !object.Identical(with, v) {
			set(name, with)
		}
	}
	return out
}

func (s *Schema) elementsWithDefaults(list []any) []any {
	out := list
	for i, v := range list {
		with := s.Items.replacingNull(v)
		if object.Identical(with, v) {
			continue
		}
		if object.Same(out, list) {
			out = slices.Clone(list)
		}
		out[i] = with
	}
	return out
}

// replacingNull is withDefaults for a member or an element: the default replaces a null that is not
// allowed.
func (s *Schema) replacingNull(v any) any {
	if s.isForbiddenNull(v) {
		return s.newDefault()
	}
	return s.withDefaults(v)
}

// newDefault returns a copy of the default, with the defaults of its own fields.
func (s *Schema) newDefault() any { return s.withDefaults(object.Copy(s.Default)) }

// isForbiddenNull reports whether v is a null that the schema does not allow.
func (s *Schema) isForbiddenNull(v any) bool { return v == nil && s != nil && !s.Nullable }
