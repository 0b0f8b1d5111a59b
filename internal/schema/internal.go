package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/validation"
)

// A member of the Go struct that a kube-apiserver decodes a schema into. Where
// an error is about a whole schema, the message quotes this struct.
type member struct {
	field   string
	keyword string
	zero    string
	encode  func(v any) json.RawMessage
}

// rootWithStatus are the fields allowed at the root of a schema with the status
// subresource: from properties.status, its validation is known to be all there
// is.
var rootWithStatus = []string{
	"Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum",
	"MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required",
	"Items", "Properties", "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations",
}

// members are the fields of the struct, in its order.
var members []member

func init() {
	text, flag := `""`, "false"
	members = []member{
		{"ID", "id", text, asIs}, {"Schema", "$schema", text, asIs}, {"Ref", "$ref", "null", asIs},
		{"Description", "description", text, asIs}, {"Type", "type", text, asIs}, {"Nullable", "nullable", flag, asIs},
		{"Format", "format", text, asIs}, {"Title", "title", text, asIs}, {"Default", "default", "null", asIs},
		{"Maximum", "maximum", "null", asIs}, {"ExclusiveMaximum", "exclusiveMaximum", flag, asIs},
		{"Minimum", "minimum", "null", asIs}, {"ExclusiveMinimum", "exclusiveMinimum", flag, asIs},
		{"MaxLength", "maxLength", "null", asIs}, {"MinLength", "minLength", "null", asIs},
		{"Pattern", "pattern", text, asIs},
		{"MaxItems", "maxItems", "null", asIs}, {"MinItems", "minItems", "null", asIs},
		{"UniqueItems", "uniqueItems", flag, asIs}, {"MultipleOf", "multipleOf", "null", asIs},
		{"Enum", "enum", "null", asIs},
		{"MaxProperties", "maxProperties", "null", asIs}, {"MinProperties", "minProperties", "null", asIs},
		{"Required", "required", "null", asIs}, {"Items", "items", "null", internalItems},
		{"AllOf", "allOf", "null", internalList}, {"OneOf", "oneOf", "null", internalList}, {"AnyOf", "anyOf", "null", internalList},
		{"Not", "not", "null", internalSchema}, {"Properties", "properties", "null", internalMap(internalSchema)},
		{"AdditionalProperties", "additionalProperties", "null", internalOrBool},
		{"PatternProperties", "patternProperties", "null", internalMap(internalSchema)},
		{"Dependencies", "dependencies", "null", internalMap(internalDependency)},
		{"AdditionalItems", "additionalItems", "null", internalOrBool},
		{"Definitions", "definitions", "null", internalMap(internalSchema)},
		{"ExternalDocs", "externalDocs", "null", internalDocs}, {"Example", "example", "null", asIs},
		{"XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", "null", asIs},
		{"XEmbeddedResource", "x-kubernetes-embedded-resource", flag, asIs},
		{"XIntOrString", "x-kubernetes-int-or-string", flag, asIs},
		{"XListMapKeys", "x-kubernetes-list-map-keys", "null", asIs},
		{"XListType", "x-kubernetes-list-type", "null", asIs}, {"XMapType", "x-kubernetes-map-type", "null", asIs},
		{"XValidations", "x-kubernetes-validations", "null", internalRules},
	}
}

// rootWithStatus reports the first thing that a schema must not say at its root
// when the status is a subresource. The path is the schema's.
func (p keywords) rootWithStatus(path *validation.Path) validation.List {
	for _, m := range members {
		v := p[m.keyword]
		switch {
		case v == nil || v == false && m.zero == "false":
		case m.keyword == "type" && v != "object":
			return validation.List{validation.Invalid(path.Child("type"), v, `only "object" is allowed as the type at the root of the schema if the status subresource is enabled`)}
		case !slices.Contains(rootWithStatus, m.field):
			detail := fmt.Sprintf("only %v fields are allowed at the root of the schema if the status subresource is enabled", rootWithStatus)
			return validation.List{validation.Invalid(path, internalSchema(map[string]any(p)), detail)}
		}
	}
	return nil
}

func asIs(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}

// ordered writes an object of these names and values, in their order.
func ordered(pairs ...any) json.RawMessage {
	b := []byte{'{'}
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, asIs(pairs[i])...)
		b = append(b, ':')
		b = append(b, asIs(pairs[i+1])...)
	}
	return append(b, '}')
}

func internalSchema(v any) json.RawMessage {
	p, ok := v.(map[string]any)
	if !ok {
		return json.RawMessage("null")
	}
	pairs := make([]any, 0, 2*len(members))
	for _, m := range members {
		text := json.RawMessage(m.zero)
		if p[m.keyword] != nil {
			text = m.encode(p[m.keyword])
		}
		pairs = append(pairs, m.field, text)
	}
	return ordered(pairs...)
}

func internalList(v any) json.RawMessage {
	list, _ := v.([]any)
	texts := make([]json.RawMessage, len(list))
	for i, s := range list {
		texts[i] = internalSchema(s)
	}
	return asIs(texts)
}

func internalMap(elem func(any) json.RawMessage) func(any) json.RawMessage {
	return func(v any) json.RawMessage {
		m, _ := v.(map[string]any)
		var pairs []any
		for _, name := range slices.Sorted(maps.Keys(m)) {
			pairs = append(pairs, name, elem(m[name]))
		}
		return ordered(pairs...)
	}
}

func internalItems(v any) json.RawMessage {
	if _, ok := v.([]any); ok {
		return ordered("Schema", nil, "JSONSchemas", internalList(v))
	}
	return ordered("Schema", internalSchema(v), "JSONSchemas", nil)
}

func internalOrBool(v any) json.RawMessage {
	allows, ok := v.(bool)
	return ordered("Allows", allows || !ok, "Schema", internalSchema(v))
}

func internalDependency(v any) json.RawMessage {
	return ordered("Schema", internalSchema(v), "Property", listOrNil(v))
}

func listOrNil(v any) any {
	if list, ok := v.([]any); ok {
		return list
	}
	return nil
}

func internalDocs(v any) json.RawMessage {
	docs := keywordsOf(v)
	return ordered("Description", docs.text("description"), "URL", docs.text("url"))
}

func internalRules(v any) json.RawMessage {
	return asIs(keywords{"x-kubernetes-validations": v}.rules())
}
