package schema

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

// rootWithStatus has the keywords, with the names of their Go fields, that are allowed at
// the root of the schema if the status subresource is enabled. They do not constrain the
// status outside of properties.status.
var rootWithStatus = []struct{ name, keyword string }{
	{"Description", "description"}, {"Type", "type"}, {"Format", "format"}, {"Title", "title"},
	{"Maximum", "maximum"}, {"ExclusiveMaximum", "exclusiveMaximum"},
	{"Minimum", "minimum"}, {"ExclusiveMinimum", "exclusiveMinimum"},
	{"MaxLength", "maxLength"}, {"MinLength", "minLength"}, {"Pattern", "pattern"},
	{"MaxItems", "maxItems"}, {"MinItems", "minItems"}, {"UniqueItems", "uniqueItems"},
	{"MultipleOf", "multipleOf"}, {"Required", "required"}, {"Items", "items"}, {"Properties", "properties"},
	{"ExternalDocs", "externalDocs"}, {"Example", "example"},
	{"XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields"}, {"XValidations", "x-kubernetes-validations"},
}

// rootWithStatus returns the error of the first keyword that is forbidden at the root if the
// status subresource is enabled. path is the path of the schema.
func (p keywords) rootWithStatus(path *validation.Path) validation.List {
	allowed := make(map[string]bool, len(rootWithStatus))
	names := make([]string, len(rootWithStatus))
	for i, k := range rootWithStatus {
		names[i], allowed[k.keyword] = k.name, true
	}
	if typ := p.text("type"); typ != "" && typ != "object" && !p.has("id") && !p.has("$schema") && p["$ref"] == nil {
		return validation.List{validation.Invalid(path.Child("type"), typ, `only "object" is allowed as the type at the root of the schema if the status subresource is enabled`)}
	}
	for keyword, v := range p {
		if v != nil && !allowed[keyword] {
			whole := unversioned.Value{Type: "apiextensions.JSONSchemaProps", Value: map[string]any(p)}
			return validation.List{validation.Invalid(path, whole, fmt.Sprintf("only %v fields are allowed at the root of the schema if the status subresource is enabled", names))}
		}
	}
	return nil
}
