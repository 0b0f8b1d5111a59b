package schema

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// A defaultCheck checks that defaults are valid and that pruning does not change them.
type defaultCheck struct{ rules RuleChecker }

// resource checks the defaults in the schema of a resource.
func (c defaultCheck) resource(s *Schema, path *validation.Path) validation.List {
	return c.schema(s.asResource(), enclosing{}, path)
}

// enclosing describes the resource or embedded resource that has a value.
type enclosing struct {
	resource *Schema
	// path has the names of the fields from the resource to the value, "" for an
	// element of a list.
	path   []string
	inMeta bool
}

// wrap returns an object of the resource with the value at its path.
func (a enclosing) wrap(value any) map[string]any {
	for _, name := range slices.Backward(a.path) {
		if name == "" {
			value = []any{value}
		} else {
			value = map[string]any{name: value}
		}
	}
	obj, _ := value.(map[string]any)
	if obj == nil {
		obj = map[string]any{}
	}
	for name, placeholder := range map[string]string{"apiVersion": "validation/v1", "kind": "Validation"} {
		if _, ok := obj[name]; !ok {
			obj[name] = placeholder
		}
	}
	return obj
}

// child returns the enclosing of a field or element of the value.
func (a enclosing) child(name string) enclosing {
	a.path = append(slices.Clip(a.path), name)
	return a
}

// schema checks the defaults of s and its subschemas.
func (c defaultCheck) schema(s *Schema, in enclosing, path *validation.Path) validation.List {
	if s.EmbeddedResource {
		in = enclosing{resource: s}
	}
	var list validation.List
	if s.HasDefault {
		list = c.value(s, in, path.Child("default"))
	}
	if s.Items != nil && s.Items.hasDefaults {
		list = append(list, c.schema(s.Items, in.child(""), path.Child("items"))...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		if !property.hasDefaults {
			continue
		}
		field := in.child(name)
		field.inMeta = in.inMeta || s.EmbeddedResource && isMeta(name)
		list = append(list, c.schema(property, field, path.Child("properties").Key(name))...)
	}
	return list
}

// value checks the default of a schema.
func (c defaultCheck) value(s *Schema, in enclosing, path *validation.Path) validation.List {
	var list validation.List
	coerce := &coercer{}
	if in.inMeta {
		obj := in.wrap(object.Copy(s.Default))
		invalid := func(err any) validation.List {
			return validation.List{validation.Invalid(path, s.Default, fmt.Sprintf("must result in valid metadata: %v", err))}
		}
		if err := coerce.value(in.resource, obj, nil); err != nil {
			return invalid(err)
		}
		if errs := in.resource.ValidateEmbedded(obj, nil); len(errs) > 0 {
			return invalid(errs.Message())
		}
	} else {
		value := object.Copy(s.Default)
		(&pruner{}).value(s, value)
		if !object.Equal(value, s.Default) {
			list = append(list, validation.Invalid(path, s.Default, "must not have unknown fields"))
		}
		value = object.Copy(s.Default)
		if err := coerce.value(s, value, path); err != nil {
			return append(list, err)
		}
		if errs := s.ValidateEmbedded(value, path); len(errs) > 0 {
			return append(list, errs...)
		}
	}
	r := validator{asWritten: true}.value(s, s.Default, nil, nil)
	errs := r.errors(path)
	if len(errs) == 0 && c.rules != nil {
		errs = c.rules.CheckDefault(s, s == in.resource, s.Default, path)
	}
	return append(list, errs...)
}

// HasDefaults reports whether an openAPIV3Schema or one of its subschemas has a default.
func HasDefaults(props map[string]any) bool {
	p := keywords(props)
	if len(p) == 0 || p["default"] != nil {
		return len(p) > 0
	}
	hasDefaults := func(v any) bool { return HasDefaults(keywordsOf(v)) }
	for _, keyword := range []string{"items", "additionalProperties", "not"} {
		if hasDefaults(p[keyword]) {
			return true
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if slices.ContainsFunc(p.list(keyword), hasDefaults) {
			return true
		}
	}
	for _, property := range keywordsOf(p["properties"]) {
		if hasDefaults(property) {
			return true
		}
	}
	return false
}
