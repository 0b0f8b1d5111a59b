package schema

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// A defaultCheck checks that defaults are valid, and that nothing of them would
// be pruned.
type defaultCheck struct{ rules RuleChecker }

// resource checks the defaults in a resource's schema.
func (c defaultCheck) resource(s *Schema, path *validation.Path) validation.List {
	return c.schema(s.asResource(), surroundings{}, path)
}

// The surroundings of a value are what it lies in, from the API object around it
// inwards.
type surroundings struct {
	whole *Schema
	// members lead to the value: the names of members, "" for elements.
	members []string
	inMeta  bool
}

// around makes the API object whose part is the value.
func (a surroundings) around(value any) map[string]any {
	for _, name := range slices.Backward(a.members) {
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

// in is the surroundings of a part.
func (a surroundings) in(name string) surroundings {
	a.members = append(slices.Clip(a.members), name)
	return a
}

// schema checks the defaults in a schema.
func (c defaultCheck) schema(s *Schema, in surroundings, path *validation.Path) validation.List {
	if s == nil || !s.hasDefaults {
		return nil
	}
	if s.EmbeddedResource {
		in = surroundings{whole: s}
	}
	var list validation.List
	if s.HasDefault {
		list = c.value(s, in, path.Child("default"))
	}
	list = append(list, c.schema(s.Items, in.in(""), path.Child("items"))...)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		part := in.in(name)
		part.inMeta = in.inMeta || s.EmbeddedResource && isMeta(name)
		list = append(list, c.schema(s.Properties[name], part, path.Child("properties").Key(name))...)
	}
	return list
}

// value checks the default of a schema.
func (c defaultCheck) value(s *Schema, in surroundings, path *validation.Path) validation.List {
	var list validation.List
	coerce := &coercer{}
	if in.inMeta {
		obj := in.around(object.Copy(s.Default))
		invalid := func(err any) validation.List {
			return validation.List{validation.Invalid(path, s.Default, fmt.Sprintf("must result in valid metadata: %v", err))}
		}
		if err := coerce.value(in.whole, obj, nil); err != nil {
			return invalid(err)
		}
		if wrong := in.whole.ValidateEmbedded(obj, nil); len(wrong) > 0 {
			return invalid(wrong.Message())
		}
	} else {
		value := object.Copy(s.Default)
		(&pruner{}).value(s, value, "")
		if !object.Equal(value, s.Default) {
			list = append(list, validation.Invalid(path, s.Default, "must not have unknown fields"))
		}
		value = object.Copy(s.Default)
		if err := coerce.value(s, value, path); err != nil {
			return append(list, err)
		}
		if wrong := s.ValidateEmbedded(value, path); len(wrong) > 0 {
			return append(list, wrong...)
		}
	}
	r := validator{written: true}.value(s, s.Default, nil, nil)
	wrong := r.list(path)
	if len(wrong) == 0 && c.rules != nil {
		wrong = c.rules.CheckDefault(s, s == in.whole, s.Default, path)
	}
	return append(list, wrong...)
}

// HasDefaults reports whether there is a default in an openAPIV3Schema or in one
// within it.
func HasDefaults(props map[string]any) bool {
	p := keywords(props)
	if len(p) == 0 || p["default"] != nil {
		return len(p) > 0
	}
	within := func(v any) bool { return HasDefaults(keywordsOf(v)) }
	for _, keyword := range []string{"items", "additionalProperties", "not"} {
		if within(p[keyword]) {
			return true
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if slices.ContainsFunc(p.list(keyword), within) {
			return true
		}
	}
	for _, property := range keywordsOf(p["properties"]) {
		if within(property) {
			return true
		}
	}
	return false
}
