package schema

import (
	"maps"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// Structural checks that an openAPIV3Schema in canonical form is a structural schema: it
// has the type of every field, and declares outside of logical junctors every field that
// these name. s is the result of FromProps for it, and path its path. The errors are sorted
// by their texts.
func Structural(props map[string]any, s *Schema, path *validation.Path) validation.List {
	c := structural{}
	c.schema(props, s, rootLevel, path)
	c.checkCompleteness(props, props, path, path)
	slices.SortFunc(c.list, func(a, b *validation.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return c.list
}

// structural collects the errors of Structural.
type structural struct{ list validation.List }

func (c *structural) add(e *validation.Error) { c.list = append(c.list, e) }

// A level is the position of a schema in its parent, in the words of error messages.
type level string

const (
	rootLevel  level = "at the root"
	itemLevel  level = "for specified array items"
	fieldLevel level = "for specified object fields"
)

// schema checks a schema outside of logical junctors. s is the result of FromProps for p.
func (c *structural) schema(p keywords, s *Schema, at level, path *validation.Path) {
	if s.Items != nil {
		c.schema(keywordsOf(p["items"]), s.Items, itemLevel, path.Child("items"))
	} else if s.Type == "array" {
		c.add(validation.Required(path.Child("items"), "must be specified"))
	}
	if len(s.Properties) > 0 {
		under := path.Child("properties")
		for name, property := range keywordsOf(p["properties"]) { // in any order: the errors are sorted
			c.schema(keywordsOf(property), s.Properties[name], fieldLevel, under.Key(name))
		}
	}
	if s.Additional != nil {
		under := path.Child("additionalProperties")
		if at == rootLevel {
			c.add(validation.Forbidden(under, "must not be used at the root"))
		}
		if additional, ok := p["additionalProperties"].(map[string]any); ok {
			c.schema(additional, s.Additional, fieldLevel, under)
		}
	}
	c.checkType(s, at, path)
	if at == rootLevel || s.EmbeddedResource {
		c.checkMetadata(p, s, at, path)
	}
	if s.simple {
		return
	}
	if s.IntOrString {
		for _, keyword := range []string{"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"} {
			if p.flag(keyword) {
				c.add(validation.Invalid(path.Child(keyword), true, "must be false if x-kubernetes-int-or-string is true"))
			}
		}
	}
	allOf := p.list("allOf")
	c.junctors(p, isIntegerOrStringAnyOf(p), len(allOf) > 0 && isIntegerOrStringAnyOf(keywordsOf(allOf[0])), path)
}

// checkType checks that the schema has a type if it needs one.
func (c *structural) checkType(s *Schema, at level, path *validation.Path) {
	const embeddedType = "must be object if x-kubernetes-embedded-resource is true"
	switch {
	case s.EmbeddedResource && s.Type == "":
		c.add(validation.Required(path.Child("type"), embeddedType))
	case s.EmbeddedResource && s.Type != "object":
		c.add(validation.Invalid(path.Child("type"), s.Type, embeddedType))
	case s.Type == "" && !s.IntOrString && !s.PreserveUnknownFields:
		c.add(validation.Required(path.Child("type"), "must not be empty "+string(at)))
	}
	if s.EmbeddedResource && s.Additional != nil {
		c.add(validation.Forbidden(path.Child("additionalProperties"), "must not be used if x-kubernetes-embedded-resource is set"))
	}
	if at == rootLevel && s.Type != "" && s.Type != "object" {
		c.add(validation.Invalid(path.Child("type"), s.Type, "must be object at the root"))
	}
	if s.EmbeddedResource && !s.PreserveUnknownFields && len(s.Properties) == 0 {
		c.add(validation.Required(path.Child("properties"), "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"))
	}
}

// checkMetadata checks the schemas of apiVersion, kind and metadata in the schema of a
// resource.
func (c *structural) checkMetadata(p keywords, s *Schema, at level, path *validation.Path) {
	under := path.Child("properties")
	for _, member := range []struct{ name, typ, detail string }{
		{"kind", "string", "must be string"},
		{"apiVersion", "string", "must be string"},
		{"metadata", "object", "must be object"},
	} {
		if of := s.Properties[member.name]; of != nil && of.Type != member.typ {
			c.add(validation.Invalid(under.Key(member.name).Child("type"), of.Type, member.detail))
		}
	}
	if meta, ok := keywordsOf(p["properties"])["metadata"]; ok && at == rootLevel && !isNameOnly(keywordsOf(meta)) {
		c.add(validation.Forbidden(under.Key("metadata"), "must not specify anything other than name and generateName, but metadata is implicitly specified"))
	}
}

// isNameOnly reports whether a schema of metadata has no properties other than name and
// generateName, and no other keywords.
func isNameOnly(p keywords) bool {
	for keyword, v := range p {
		switch {
		case !p.has(keyword) || v == false || keyword == "type" || keyword == "default":
		case keyword != "properties":
			return false
		default:
			for name := range keywordsOf(v) {
				if name != "name" && name != "generateName" {
					return false
				}
			}
		}
	}
	return true
}

// integerOrString is the anyOf that is equivalent to x-kubernetes-int-or-string.
var integerOrString = []any{map[string]any{"type": "integer"}, map[string]any{"type": "string"}}

// isIntegerOrStringAnyOf reports whether the anyOf of a schema is integerOrString.
func isIntegerOrStringAnyOf(p keywords) bool { return object.Equal(p["anyOf"], integerOrString) }

// junctors checks the logical junctors and the pattern of a schema. typed is whether anyOf
// may have types, typedFirst whether the anyOf of the first allOf may.
func (c *structural) junctors(p keywords, typed, typedFirst bool, path *validation.Path) {
	if !typed {
		for i, v := range p.list("anyOf") {
			c.nested(keywordsOf(v), false, path.Child("anyOf").Index(i))
		}
	}
	for i, v := range p.list("allOf") {
		c.nested(keywordsOf(v), typedFirst && i == 0, path.Child("allOf").Index(i))
	}
	for i, v := range p.list("oneOf") {
		c.nested(keywordsOf(v), false, path.Child("oneOf").Index(i))
	}
	if not, ok := p["not"].(map[string]any); ok {
		c.nested(not, false, path.Child("not"))
	}
	if pattern := p.text("pattern"); pattern != "" {
		if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
			c.add(validation.Invalid(path.Child("pattern"), pattern, "must be a valid regular expression, but isn't: "+err.Error()))
		}
	}
}

// structureKeywords has the keywords that are forbidden within logical junctors, and the
// description of the required value.
var structureKeywords = []struct{ name, empty string }{
	{"type", "empty"},
	{"additionalProperties", "undefined"},
	{"default", "undefined"},
	{"title", "empty"},
	{"description", "empty"},
	{"nullable", "false"},
	{"x-kubernetes-preserve-unknown-fields", "false"},
	{"x-kubernetes-embedded-resource", "false"},
	{"x-kubernetes-int-or-string", "false"},
	{"x-kubernetes-list-map-keys", "empty"},
	{"x-kubernetes-list-type", "undefined"},
	{"x-kubernetes-map-type", "undefined"},
	{"x-kubernetes-validations", "empty"},
}

// nested checks a schema within a logical junctor.
func (c *structural) nested(p keywords, typed bool, path *validation.Path) {
	c.junctors(p, typed, false, path)
	if items, ok := p["items"].(map[string]any); ok {
		c.nested(items, false, path.Child("items"))
	}
	properties := keywordsOf(p["properties"])
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		c.nested(keywordsOf(properties[name]), false, path.Child("properties").Key(name))
	}
	for _, keyword := range structureKeywords {
		v := p[keyword.name]
		isSet := p.has(keyword.name) && v != false
		switch keyword.name {
		case "additionalProperties":
			isSet = isSet || isObject(v)
		case "default":
			isSet = v != nil
		}
		if isSet {
			c.add(validation.Forbidden(path.Child(keyword.name), "must be "+keyword.empty+" to be structural"))
		}
	}
	if _, ok := properties["metadata"]; ok {
		c.add(validation.Forbidden(path.Child("properties").Key("metadata"), "must not be specified in a nested context"))
	}
}

func isObject(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

// checkCompleteness checks that s declares all fields that the logical junctors of v name.
// vPath and sPath are the paths of v and s.
func (c *structural) checkCompleteness(v, s keywords, vPath, sPath *validation.Path) {
	if not, ok := v["not"].(map[string]any); ok {
		c.checkCovered(not, s, vPath.Child("not"), sPath)
	}
	for _, junctor := range []string{"allOf", "anyOf", "oneOf"} {
		for i, sub := range v.list(junctor) {
			c.checkCovered(keywordsOf(sub), s, vPath.Child(junctor).Index(i), sPath)
		}
	}
}

// checkCovered checks that s declares all fields that v names, a schema within a logical
// junctor. A nil s is reported as missing.
func (c *structural) checkCovered(v, s keywords, vPath, sPath *validation.Path) {
	if s == nil {
		c.add(validation.Required(sPath, "because it is defined in "+vPath.String()))
		return
	}
	c.checkCompleteness(v, s, vPath, sPath)
	if items, ok := v["items"].(map[string]any); ok {
		c.checkCovered(items, keywordsOf(s["items"]), vPath.Child("items"), sPath.Child("items"))
	}
	properties := keywordsOf(v["properties"])
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		c.checkCovered(keywordsOf(properties[name]), keywordsOf(keywordsOf(s["properties"])[name]),
			vPath.Child("properties").Key(name), sPath.Child("properties").Key(name))
	}
}
