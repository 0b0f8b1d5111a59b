package schema

import (
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
)

// PublishV3 returns what an OpenAPI v3 document says of a custom resource whose
// openAPIV3Schema, in canonical form, is props: all that props say and, of the
// resource and those embedded in it, apiVersion, kind and metadata. A schema
// that is not structural, or nil, is published as that of any object.
func PublishV3(props map[string]any) map[string]any {
	return publisher{metaReference: v3Reference(objectMetaName), metaText: metadataText}.resource(props)
}

// PublishV2 is PublishV3 for an OpenAPI v2 document. It leaves out what version 2
// has no keywords for, and what makes kubectl refuse valid objects.
func PublishV2(props map[string]any) map[string]any {
	return publisher{v2: true, metaReference: map[string]any{"$ref": "#/definitions/" + objectMetaName}, metaText: metadataText}.resource(props)
}

// PublishList returns what a document says of the list of a custom resource,
// whose schema has the reference.
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

// What is published of the members that every object has.
const (
	apiVersionText         = "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
	kindText               = "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
	metadataText           = "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
	listMetadataText       = "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
	embeddedAPIVersionText = "apiVersion defines the versioned schema of this representation of an object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
	embeddedKindText       = "kind is a string value representing the type of this object. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
)

// A publisher writes schemas for one version of OpenAPI.
type publisher struct {
	v2            bool
	metaReference map[string]any
	metaText      string
}

func (o publisher) resource(props map[string]any) map[string]any {
	anything := map[string]any{"type": "object"}
	if _, err := FromProps(props); props == nil || err != nil || len(Structural(props, nil)) > 0 {
		return anything
	}
	if o.v2 && keywords(props).flag("x-kubernetes-preserve-unknown-fields") {
		return anything
	}
	p := o.schema(object.Copy(props))
	o.describe(p, apiVersionText, kindText)
	return p
}

// schema rewrites a schema, which it may change, and those within it.
func (o publisher) schema(p keywords) keywords {
	if o.v2 {
		p.degrade()
	} else {
		p.unfold()
	}
	properties := keywordsOf(p["properties"])
	for name, property := range properties {
		properties[name] = map[string]any(o.schema(keywordsOf(property)))
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if part, ok := p[keyword].(map[string]any); ok {
			p[keyword] = map[string]any(o.schema(part))
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

// describe adds what every object has to the schema of one.
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

// unfold says of an integer or string what it is with a junctor, too.
func (p keywords) unfold() {
	allOf := p.list("allOf")
	switch {
	case !p.flag("x-kubernetes-int-or-string") || typesOnly(p) || len(allOf) > 0 && typesOnly(keywordsOf(allOf[0])):
	case p["anyOf"] == nil:
		p["anyOf"] = object.Copy(integerOrString)
	default:
		first := map[string]any{"anyOf": object.Copy(integerOrString)}
		p["allOf"] = append([]any{first}, allOf...)
	}
}

// degrade removes what OpenAPI v2 and its readers cannot handle, but for what is
// within properties, items and additionalProperties.
func (p keywords) degrade() {
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

	mayBeNull := func(v any) bool { return keywordsOf(v).flag("nullable") }
	properties := keywordsOf(p["properties"])
	required := slices.DeleteFunc(p.list("required"), func(name any) bool {
		s, _ := name.(string)
		return mayBeNull(properties[s]) || mayBeNull(p["additionalProperties"])
	})
	if len(required) > 0 {
		p["required"] = required
	} else {
		delete(p, "required")
	}
}

// ForApply returns the schema of a resource as its field managers see it:
// apiVersion, kind and metadata are described, there and in embedded resources,
// and formats mean nothing. objectMeta is the schema of metadata.
func (s *Schema) ForApply(objectMeta *Schema) *Schema {
	if s == nil {
		return nil
	}
	return s.asResource().described(objectMeta)
}

// described is a copy of a schema in which all objects are described.
func (s *Schema) described(objectMeta *Schema) *Schema {
	if s == nil {
		return nil
	}
	c := *s
	c.Format = ""
	c.Items, c.Additional = s.Items.described(objectMeta), s.Additional.described(objectMeta)
	if s.Properties != nil || s.EmbeddedResource {
		c.Properties = make(map[string]*Schema, len(s.Properties)+3)
	}
	for name, property := range s.Properties {
		c.Properties[name] = property.described(objectMeta)
	}
	if s.EmbeddedResource {
		text := &Schema{Type: "string"}
		c.Properties["apiVersion"], c.Properties["kind"], c.Properties["metadata"] = text, text, objectMeta
	}
	return &c
}
