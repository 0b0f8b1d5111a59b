package schema

import (
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
)

// PublishOptions is how the releases of kube-apiserver differ.
type PublishOptions struct {
	OmitExamples bool // and external documentation
}

// PublishV3 returns the schema that OpenAPI v3 documents have for a custom resource. props
// is its openAPIV3Schema in canonical form. PublishV3 adds apiVersion, kind and metadata of
// the resource and of embedded resources. For a schema that is nil or not structural, it
// returns the schema of any object.
func PublishV3(props map[string]any, o PublishOptions) map[string]any {
	return publisher{PublishOptions: o, metaReference: v3Reference(objectMetaName), metaText: metadataText}.resource(props)
}

// PublishV2 is PublishV3 for OpenAPI v2 documents. It omits what OpenAPI v2 cannot express,
// and what makes kubectl reject valid objects.
func PublishV2(props map[string]any, o PublishOptions) map[string]any {
	return publisher{PublishOptions: o, v2: true, metaReference: map[string]any{"$ref": "#/definitions/" + objectMetaName}, metaText: metadataText}.resource(props)
}

// PublishList returns the schema of the list of a custom resource. reference is the $ref of
// the schema of the resource.
func PublishList(kind, listKind, plural, reference string) map[string]any {
	list := keywords{
		"type": "object", "required": []any{"items"},
		"description": listKind + " is a list of " + kind,
		"properties": map[string]any{"items": map[string]any{
			"type": "array", "items": map[string]any{"$ref": reference},
			"description": "List of " + plural + ". More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md",
		}},
	}
	publisher{metaReference: v3Reference(listMetaName), metaText: listMetadataText}.describe(list, apiVersionText, kindText)
	return list
}

func v3Reference(name string) map[string]any {
	return map[string]any{"allOf": []any{map[string]any{"$ref": "#/components/schemas/" + name}}}
}

const (
	objectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
	listMetaName   = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"
)

// The descriptions of the fields that every object has.
const (
	apiVersionText         = "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
	kindText               = "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
	metadataText           = "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
	listMetadataText       = "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
	embeddedAPIVersionText = "apiVersion defines the versioned schema of this representation of an object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
	embeddedKindText       = "kind is a string value representing the type of this object. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
)

// A publisher converts schemas for one version of OpenAPI.
type publisher struct {
	PublishOptions
	v2            bool
	metaReference map[string]any
	metaText      string
}

func (o publisher) resource(props map[string]any) map[string]any {
	anything := map[string]any{"type": "object"}
	if s, err := FromProps(props); props == nil || err != nil || len(Structural(props, s, nil)) > 0 {
		return anything
	}
	if o.v2 && keywords(props).flag("x-kubernetes-preserve-unknown-fields") {
		return anything
	}
	p := o.schema(object.Copy(props))
	if !p.flag("x-kubernetes-embedded-resource") { // else it is described already
		o.describe(p, apiVersionText, kindText)
	}
	return p
}

// schema converts a schema and its subschemas. It may change p.
func (o publisher) schema(p keywords) keywords {
	if example := p["example"]; o.OmitExamples || object.IsEmpty(example) || example == "" {
		delete(p, "example")
	}
	if o.OmitExamples {
		delete(p, "externalDocs")
	}
	if o.v2 {
		p.removeUnsupportedV2()
	} else {
		p.expandIntOrString()
	}
	properties := keywordsOf(p["properties"])
	for name, property := range properties {
		properties[name] = map[string]any(o.schema(keywordsOf(property)))
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if sub, ok := p[keyword].(map[string]any); ok {
			p[keyword] = map[string]any(o.schema(sub))
		}
	}
	if p.flag("x-kubernetes-embedded-resource") && !(o.v2 && p.flag("x-kubernetes-preserve-unknown-fields")) {
		o.describe(p, embeddedAPIVersionText, embeddedKindText)
		required := p.list("required")
		for _, name := range []string{"kind", "apiVersion"} {
			if !slices.Contains(required, any(name)) {
				required = append(required, name)
			}
		}
		p["required"] = required
	}
	return p
}

// describe adds apiVersion, kind and metadata to the schema of an object.
func (o publisher) describe(p keywords, apiVersion, kind string) {
	properties := keywordsOf(p["properties"])
	if properties == nil {
		properties = keywords{}
	}
	properties["apiVersion"] = map[string]any{"type": "string", "description": apiVersion}
	properties["kind"] = map[string]any{"type": "string", "description": kind}
	meta := maps.Clone(o.metaReference)
	meta["description"] = o.metaText
	properties["metadata"] = meta
	p["properties"] = map[string]any(properties)
}

// expandIntOrString adds the anyOf that x-kubernetes-int-or-string implies.
func (p keywords) expandIntOrString() {
	allOf := p.list("allOf")
	switch {
	case !p.flag("x-kubernetes-int-or-string") || isIntegerOrStringAnyOf(p) || len(allOf) > 0 && isIntegerOrStringAnyOf(keywordsOf(allOf[0])):
	case p["anyOf"] == nil:
		p["anyOf"] = object.Copy(integerOrString)
	default:
		first := map[string]any{"anyOf": object.Copy(integerOrString)}
		p["allOf"] = append([]any{first}, allOf...)
	}
}

// removeUnsupportedV2 removes the keywords that OpenAPI v2 and its readers cannot handle.
// It does not change subschemas.
func (p keywords) removeUnsupportedV2() {
	for _, keyword := range []string{"allOf", "anyOf", "oneOf", "not", "default"} {
		delete(p, keyword)
	}
	nullable, preserved := p.flag("nullable"), p.flag("x-kubernetes-preserve-unknown-fields")
	if nullable || preserved {
		delete(p, "items")
		delete(p, "properties")
	}
	typ := p.text("type")
	if nullable || preserved && typ == "object" || typ == "array" && p["items"] == nil {
		delete(p, "type")
	}
	delete(p, "nullable")

	nullableSchema := func(v any) bool { return keywordsOf(v).flag("nullable") }
	properties := keywordsOf(p["properties"])
	required := slices.DeleteFunc(p.list("required"), func(name any) bool {
		s, _ := name.(string)
		return nullableSchema(properties[s]) || nullableSchema(p["additionalProperties"])
	})
	if len(required) > 0 {
		p["required"] = required
	} else {
		delete(p, "required")
	}
}

// ForApply returns the schema of a resource for server-side apply: it has apiVersion, kind
// and metadata, also in embedded resources. objectMeta is the schema of metadata.
func (s *Schema) ForApply(objectMeta *Schema) *Schema {
	if s == nil {
		return nil
	}
	return s.asResource().withObjectMeta(objectMeta)
}

// withObjectMeta returns a copy of s for ForApply.
func (s *Schema) withObjectMeta(objectMeta *Schema) *Schema {
	if s == nil {
		return nil
	}
	c := *s
	c.Items, c.Additional = s.Items.withObjectMeta(objectMeta), s.Additional.withObjectMeta(objectMeta)
	if s.Properties != nil || s.EmbeddedResource {
		c.Properties = make(map[string]*Schema, len(s.Properties)+3)
	}
	for name, property := range s.Properties {
		c.Properties[name] = property.withObjectMeta(objectMeta)
	}
	if s.EmbeddedResource {
		text := &Schema{Type: "string"}
		c.Properties["apiVersion"], c.Properties["kind"], c.Properties["metadata"] = text, text, objectMeta
	}
	return &c
}
