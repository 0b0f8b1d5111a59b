package schema

import (
	"slices"
	"strconv"
)

// prune removes unknown fields from an object unless the schema preserves them, and returns
// their sorted paths, such as "spec.extra" and "spec.list[0].extra". s is the schema of a
// resource: apiVersion, kind and metadata are not pruned, also in embedded resources. A nil
// schema has no other fields.
func (s *Schema) prune(obj map[string]any) (unknown []string) {
	p := pruner{}
	p.value(s.asResource(), obj, "")
	slices.Sort(p.unknown)
	return p.unknown
}

// asResource returns s with EmbeddedResource set, so that it has apiVersion, kind and
// metadata.
func (s *Schema) asResource() *Schema {
	if s == nil {
		return &Schema{EmbeddedResource: true}
	}
	if s.EmbeddedResource {
		return s
	}
	resource := *s
	resource.EmbeddedResource = true
	return &resource
}

// A pruner collects the paths of removed fields.
type pruner struct{ unknown []string }

// value prunes the value v at the path at. A nil schema has no fields.
func (p *pruner) value(s *Schema, v any, at string) {
	if s == nil {
		s = &emptySchema
	}
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if s.EmbeddedResource && isMeta(name) {
				continue
			}
			if known := s.member(name); known != nil {
				p.value(known, member, memberPath(at, name))
			} else if !s.PreserveUnknownFields {
				if at != "" || !isMeta(name) {
					p.unknown = append(p.unknown, memberPath(at, name))
				}
				delete(v, name)
			}
		}
	case []any:
		for i, elem := range v {
			if s.PreserveUnknownFields {
				p.preserved(s.Items, elem, elementPath(at, i))
			} else {
				p.value(s.Items, elem, elementPath(at, i))
			}
		}
	}
}

// preserved prunes a value within a list whose unknown fields are preserved: fields with a
// schema are pruned, others are kept.
func (p *pruner) preserved(s *Schema, v any, at string) {
	if s != nil {
		preserving := *s
		preserving.PreserveUnknownFields = true
		p.value(&preserving, v, at)
	}
}

// emptySchema has no fields.
var emptySchema Schema

func isMeta(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

func memberPath(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

func elementPath(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

// dropNulls removes the null fields of an object that are not nullable and have no default.
// SetDefaults replaces those with a default.
func (s *Schema) dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			known := s.member(name)
			if member == nil && known != nil && !known.Nullable && !known.HasDefault {
				delete(v, name)
			} else {
				known.dropNulls(member)
			}
		}
	case []any:
		for _, elem := range v {
			s.items().dropNulls(elem)
		}
	}
}

// member returns the schema of a field of an object or of the values of a map, nil if
// there is none or s is nil.
func (s *Schema) member(name string) *Schema {
	if s == nil {
		return nil
	}
	if property, ok := s.Properties[name]; ok {
		return property
	}
	return s.Additional
}

func (s *Schema) items() *Schema {
	if s == nil {
		return nil
	}
	return s.Items
}
