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
	if s == nil {
		s = &emptySchema
	}
	p := pruner{}
	p.object(s, obj, true)
	for i, path := range p.unknown {
		p.unknown[i] = path[len("."):]
	}
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

// A pruner collects the paths of removed fields. Those of the present value begin at that value,
// with a dot or a bracket.
type pruner struct{ unknown []string }

// value prunes a value. A nil schema has no fields.
func (p *pruner) value(s *Schema, v any) {
	if s == nil {
		s = &emptySchema
	}
	switch v := v.(type) {
	case map[string]any:
		p.object(s, v, s.EmbeddedResource)
	case []any:
		for i, elem := range v {
			before := len(p.unknown)
			if s.PreserveUnknownFields {
				p.preserved(s.Items, elem)
			} else {
				p.value(s.Items, elem)
			}
			if len(p.unknown) > before {
				p.prefix("["+strconv.Itoa(i)+"]", before)
			}
		}
	}
}

// object prunes an object. A resource has apiVersion, kind and metadata.
func (p *pruner) object(s *Schema, obj map[string]any, isResource bool) {
	for name, member := range obj {
		if isResource && isMeta(name) {
			continue
		}
		before := len(p.unknown)
		if known := s.member(name); known != nil {
			p.value(known, member)
		} else if !s.PreserveUnknownFields {
			p.unknown = append(p.unknown, "")
			delete(obj, name)
		}
		if len(p.unknown) > before {
			p.prefix("."+name, before)
		}
	}
}

// preserved prunes a value within a list whose unknown fields are preserved: fields with a
// schema are pruned, others are kept.
func (p *pruner) preserved(s *Schema, v any) {
	if s != nil {
		preserving := *s
		preserving.PreserveUnknownFields = true
		p.value(&preserving, v)
	}
}

// prefix puts a step before the paths from an index on.
func (p *pruner) prefix(step string, from int) {
	for i := from; i < len(p.unknown); i++ {
		p.unknown[i] = step + p.unknown[i]
	}
}

// emptySchema has no fields.
var emptySchema Schema

func isMeta(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

// dropNulls removes the null fields of an object that are not nullable and have no default, and
// reports whether there are any. SetDefaults replaces those with a default.
func (s *Schema) dropNulls(v any) (dropped bool) {
	if s == nil {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			known := s.member(name)
			if member == nil && known != nil && !known.Nullable && !known.HasDefault {
				delete(v, name)
				dropped = true
			} else if known.dropNulls(member) {
				dropped = true
			}
		}
	case []any:
		for _, elem := range v {
			if s.Items.dropNulls(elem) {
				dropped = true
			}
		}
	}
	return dropped
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
