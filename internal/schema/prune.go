package schema

import (
	"slices"
	"strconv"
)

// Prune removes from an object, and returns the sorted paths of, the members
// that the schema does not know and does not preserve: "spec.extra",
// "spec.list[0].extra". The schema is that of a resource: apiVersion, kind and
// metadata stay as they are, there and in embedded resources. A nil schema knows
// no members but these.
func (s *Schema) Prune(obj map[string]any) (unknown []string) {
	p := pruner{}
	p.value(s.asResource(), obj, "")
	slices.Sort(p.unknown)
	return p.unknown
}

// asResource is the schema of an API object, as which it describes the top of a
// resource.
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

// A pruner collects what it removes.
type pruner struct{ unknown []string }

// value prunes the value at a path; a nil schema knows nothing.
func (p *pruner) value(s *Schema, v any, at string) {
	if s == nil {
		s = &nothing
	}
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if s.EmbeddedResource && isMeta(name) {
				continue
			}
			if known := s.Member(name); known != nil {
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

// preserved prunes what is specified within a value that is to be preserved.
func (p *pruner) preserved(s *Schema, v any, at string) {
	if s != nil {
		preserving := *s
		preserving.PreserveUnknownFields = true
		p.value(&preserving, v, at)
	}
}

// nothing describes no value.
var nothing Schema

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

// DropNulls removes the null members of an object that may not be null and have
// no default, as if they were absent. Those with a default wait for it.
func (s *Schema) DropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			known := s.member(name)
			if member == nil && known != nil && !known.Nullable && !known.HasDefault {
				delete(v, name)
			} else {
				known.DropNulls(member)
			}
		}
	case []any:
		for _, elem := range v {
			s.items().DropNulls(elem)
		}
	}
}

func (s *Schema) member(name string) *Schema {
	if s == nil {
		return nil
	}
	return s.Member(name)
}

func (s *Schema) items() *Schema {
	if s == nil {
		return nil
	}
	return s.Items
}
