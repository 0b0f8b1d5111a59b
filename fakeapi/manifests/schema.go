package manifests

import (
	"maps"
	"slices"
	"strings"
)

// A schemaConverter makes structural schemas of JSON schemas. See
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema.
type schemaConverter struct {
	root  map[string]any // has the definitions
	plain bool           // leave out allOf, anyOf, oneOf and not

	depth int
}

// maxSchemaDepth bounds schemas that contain themselves: below, everything is accepted.
const maxSchemaDepth = 24

// object returns the schema of an object of a kind.
func (c schemaConverter) object(schema map[string]any) map[string]any {
	out := c.convert(schema)
	out["type"] = "object"
	delete(out, "x-kubernetes-preserve-unknown-fields")
	properties, _ := out["properties"].(map[string]any)
	if properties == nil {
		return map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	}
	for name, s := range map[string]string{"apiVersion": "string", "kind": "string", "metadata": "object"} {
		properties[name] = map[string]any{"type": s}
	}
	return out
}

// kept are the keywords that structural schemas have with the same meaning.
var kept = []string{
	"description", "format", "pattern", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
	"multipleOf", "required", "default", "nullable",
	"x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string", "x-kubernetes-embedded-resource",
	"x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type", "x-kubernetes-validations",
}

// convert returns a JSON schema as a structural schema.
func (c schemaConverter) convert(schema map[string]any) map[string]any {
	if c.depth++; c.depth > maxSchemaDepth {
		return anything()
	}
	if ref, ok := schema["$ref"].(string); ok {
		if schema = c.resolve(ref); schema == nil {
			return anything()
		}
	}
	if isIntOrString(schema) {
		return map[string]any{"x-kubernetes-int-or-string": true}
	}
	out := map[string]any{}
	for _, name := range kept {
		if v, ok := schema[name]; ok {
			out[name] = v
		}
	}
	c.setType(out, schema)
	setEnum(out, schema)
	setBound(out, schema, "minimum", "exclusiveMinimum")
	setBound(out, schema, "maximum", "exclusiveMaximum")
	c.setContents(out, schema)
	if !c.plain {
		c.setJunctors(out, schema)
	}
	return out
}

func anything() map[string]any {
	return map[string]any{"x-kubernetes-preserve-unknown-fields": true}
}

// resolve returns what a reference in the schema stands for, nil if that is elsewhere.
func (c schemaConverter) resolve(ref string) map[string]any {
	ref, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	at := c.root
	for _, name := range strings.Split(ref, "/") {
		at, _ = at[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)].(map[string]any)
	}
	return at
}

// isIntOrString reports whether a schema is what kubeconform has for an IntOrString or a Quantity.
func isIntOrString(schema map[string]any) bool {
	if schema["x-kubernetes-int-or-string"] == true {
		return true
	}
	for _, name := range []string{"oneOf", "anyOf"} {
		list, _ := schema[name].([]any)
		var types []string
		for _, s := range list {
			m, _ := s.(map[string]any)
			t, _ := m["type"].(string)
			types = append(types, t)
		}
		slices.Sort(types)
		if schema["type"] == nil && slices.Equal(types, []string{"integer", "string"}) {
			return true
		}
	}
	return false
}

// setType sets the type, and whether the value may be null.
func (c schemaConverter) setType(out, schema map[string]any) {
	switch t := schema["type"].(type) {
	case string:
		out["type"] = t
	case []any:
		var types []string
		for _, v := range t {
			if s, _ := v.(string); s == "null" {
				out["nullable"] = true
			} else {
				types = append(types, s)
			}
		}
		if len(types) == 1 {
			out["type"] = types[0]
		}
	}
	switch {
	case out["type"] != nil:
	case schema["properties"] != nil:
		out["type"] = "object"
	case schema["items"] != nil:
		out["type"] = "array"
	default:
		out["x-kubernetes-preserve-unknown-fields"] = true
	}
}

// setEnum sets the values, of which null is none of a structural schema.
func setEnum(out, schema map[string]any) {
	values, _ := schema["enum"].([]any)
	if v, ok := schema["const"]; ok {
		values = []any{v}
	}
	n := len(values)
	values = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
	if len(values) < n {
		out["nullable"] = true
	}
	if len(values) > 0 {
		out["enum"] = values
	}
}

// setBound sets a bound. The exclusive one is a number in newer JSON schemas.
func setBound(out, schema map[string]any, name, exclusive string) {
	if v, ok := schema[name].(float64); ok {
		out[name] = v
	}
	switch v := schema[exclusive].(type) {
	case bool:
		out[exclusive] = v
	case float64:
		out[name], out[exclusive] = v, true
	}
}

// setContents sets the schemas of members and elements.
func (c schemaConverter) setContents(out, schema map[string]any) {
	switch out["type"] {
	case "array":
		items, _ := schema["items"].(map[string]any)
		out["items"] = c.convert(items)
	case "object":
		properties, _ := schema["properties"].(map[string]any)
		additional, _ := schema["additionalProperties"].(map[string]any)
		switch {
		case len(properties) > 0:
			converted := map[string]any{}
			for name, s := range properties {
				m, _ := s.(map[string]any)
				converted[name] = c.convert(m)
			}
			out["properties"] = converted
			if schema["additionalProperties"] == true || additional != nil {
				out["x-kubernetes-preserve-unknown-fields"] = true
			}
		case additional != nil:
			out["additionalProperties"] = c.convert(additional)
		default:
			out["x-kubernetes-preserve-unknown-fields"] = true
		}
	}
}

// setJunctors sets allOf, anyOf, oneOf and not, which in structural schemas have no types.
func (c schemaConverter) setJunctors(out, schema map[string]any) {
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema[name].([]any)
		var converted []any
		for _, s := range list {
			if m, ok := s.(map[string]any); ok {
				converted = append(converted, c.valueOnly(m))
			}
		}
		if converted != nil {
			out[name] = converted
		}
	}
	if m, ok := schema["not"].(map[string]any); ok {
		out["not"] = c.valueOnly(m)
	}
}

// valueOnly returns a schema in a junctor: without what says more than which values are valid.
func (c schemaConverter) valueOnly(schema map[string]any) map[string]any {
	out := c.convert(schema)
	maps.DeleteFunc(out, func(name string, _ any) bool {
		switch name {
		case "type", "description", "default", "nullable", "additionalProperties":
			return true
		}
		return strings.HasPrefix(name, "x-kubernetes-")
	})
	if properties, ok := out["properties"].(map[string]any); ok {
		given, _ := schema["properties"].(map[string]any)
		for name := range properties {
			m, _ := given[name].(map[string]any)
			properties[name] = c.valueOnly(m)
		}
	}
	return out
}
