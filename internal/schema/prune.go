package schema

import (
	"maps"
	"slices"
	"strconv"

	"github.com/kubefake/kubefake/internal/object"
)

// prune removes unknown fields from an object unless the schema preserves them, and returns
// their sorted paths, such as "spec.extra" and "spec.list[0].extra". s is the schema of a
// resource: apiVersion, kind and metadata are not pruned, also in embedded resources. A nil
// schema has no other fields.
func (s *Schema) prune(obj map[string]any) (unknown []string) {
	p := pruner{}
	p.resource(s, obj)
	for i, path := range p.unknown {
		p.unknown[i] = path[len("."):]
	}
	slices.Sort(p.unknown)
	return p.unknown
}

// WithoutUnknown returns a custom resource without the fields that prune removes: obj itself if it has
// none, a copy otherwise.
func (s *Schema) WithoutUnknown(obj map[string]any) map[string]any {
	p := pruner{finds: true}
	p.resource(s, obj)
	if len(p.unknown) == 0 {
		return obj
	}
	obj = object.Copy(obj)
	s.prune(obj)
	return obj
}

// asResource returns s with EmbeddedResource set, so that it has apiVersion, kind and
// metadata.
func (s *Schema) asResource() *Schema {
	if s == nil {
		return &Schema{EmbeddedResource: true, hasEmbedded: true}
	}
	if s.EmbeddedResource {
		return s
	}
	resource := *s
	resource.EmbeddedResource, resource.hasEmbedded = true, true
	return &resource
}

// A pruner collects the paths of removed fields. Those of the present value begin at that value,
// with a dot or a bracket.
type pruner struct {
	unknown []string
	// finds makes it remove nothing.
	finds bool
}

// resource prunes a custom resource.
func (p *pruner) resource(s *Schema, obj map[string]any) {
	if s == nil {
		s = &emptySchema
	}
	p.object(s, obj, true)
}

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
			if !p.finds {
				delete(obj, name)
			}
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

// withoutNulls returns a value without the null fields of objects that are not nullable and have no
// default: v, or a copy if there are any. SetDefaults replaces those with a default.
func (s *Schema) withoutNulls(v any) any {
	if s == nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		out := v
		for name, member := range v {
			known := s.member(name)
			drop := member == nil && known != nil && !known.Nullable && !known.HasDefault
			without := known.withoutNulls(member)
			if !drop && object.Identical(without, member) {
				continue
			}
			if object.Same(out, v) {
				out = maps.Clone(v)
			}
			if out[name] = without; drop {
				delete(out, name)
			}
		}
		return out
	case []any:
		out := v
		for i, elem := range v {
			without := s.Items.withoutNulls(elem)
			if object.Identical(without, elem) {
				continue
			}
			if object.Identical(out, v) {
				out = slices.Clone(v)
			}
			out[i] = without
		}
		return out
	}
	return v
}

// dropNulls makes an object what withoutNulls returns for it, and reports whether that changes it.
func (s *Schema) dropNulls(obj map[string]any) bool {
	without := s.withoutNulls(obj).(map[string]any)
	if object.Same(without, obj) {
		return false
	}
	clear(obj)
	maps.Copy(obj, without)
	return true
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
