package schema

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// Structural checks that an openAPIV3Schema in canonical form is structural:
// that it tells the type of every value it names, and says nothing of structure
// in junctors that it does not say outside of them. The errors, whose paths
// continue the schema's, are sorted by their texts.
func Structural(props map[string]any, path *validation.Path) validation.List {
	c := structural{}
	c.schema(props, atRoot, path)
	c.complete(props, props, path, path)
	slices.SortFunc(c.list, func(a, b *validation.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return c.list
}

// structural collects errors.
type structural struct{ list validation.List }

func (c *structural) add(e *validation.Error) { c.list = append(c.list, e) }

// A place is where in its parent a schema stands. Messages name it.
type place string

const (
	atRoot  place = "at the root"
	inArray place = "for specified array items"
	inField place = "for specified object fields"
)

// schema checks a schema that is in no junctor.
func (c *structural) schema(p keywords, at place, path *validation.Path) {
	typ := p.text("type")
	items, hasItems := p["items"].(map[string]any)
	if hasItems {
		c.schema(items, inArray, path.Child("items"))
	} else if typ == "array" {
		c.add(validation.Required(path.Child("items"), "must be specified"))
	}
	properties := keywordsOf(p["properties"])
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		c.schema(keywordsOf(properties[name]), inField, path.Child("properties").Key(name))
	}
	additional := p["additionalProperties"]
	if additional != nil && at == atRoot {
		c.add(validation.Forbidden(path.Child("additionalProperties"), "must not be used at the root"))
	}
	if additional, ok := additional.(map[string]any); ok {
		c.schema(additional, inField, path.Child("additionalProperties"))
	}
	if p.flag("x-kubernetes-int-or-string") {
		for _, keyword := range []string{"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"} {
			if p.flag(keyword) {
				c.add(validation.Invalid(path.Child(keyword), true, "must be false if x-kubernetes-int-or-string is true"))
			}
		}
	}
	allOf := p.list("allOf")
	c.junctors(p, typesOnly(p), len(allOf) > 0 && typesOnly(keywordsOf(allOf[0])), path)
	c.typed(p, at, path)
	c.meta(p, at, path)
}

// typed checks that the schema has a type where it needs one.
func (c *structural) typed(p keywords, at place, path *validation.Path) {
	typ, embedded := p.text("type"), p.flag("x-kubernetes-embedded-resource")
	preserved := p.flag("x-kubernetes-preserve-unknown-fields")
	const embeddedType = "must be object if x-kubernetes-embedded-resource is true"
	switch {
	case embedded && typ == "":
		c.add(validation.Required(path.Child("type"), embeddedType))
	case embedded && typ != "object":
		c.add(validation.Invalid(path.Child("type"), typ, embeddedType))
	case typ == "" && !p.flag("x-kubernetes-int-or-string") && !preserved:
		c.add(validation.Required(path.Child("type"), "must not be empty "+string(at)))
	}
	if embedded && p["additionalProperties"] != nil {
		c.add(validation.Forbidden(path.Child("additionalProperties"), "must not be used if x-kubernetes-embedded-resource is set"))
	}
	if at == atRoot && typ != "" && typ != "object" {
		c.add(validation.Invalid(path.Child("type"), typ, "must be object at the root"))
	}
	if embedded && !preserved && len(keywordsOf(p["properties"])) == 0 {
		c.add(validation.Required(path.Child("properties"), "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"))
	}
}

// meta checks what the schema of an API object says of the members that all of
// them have.
func (c *structural) meta(p keywords, at place, path *validation.Path) {
	properties := keywordsOf(p["properties"])
	whole := at == atRoot || p.flag("x-kubernetes-embedded-resource")
	for _, member := range []struct{ name, typ, detail string }{
		{"kind", "string", "must be string"},
		{"apiVersion", "string", "must be string"},
		{"metadata", "object", "must be object"},
	} {
		if v, ok := properties[member.name]; ok && whole {
			if typ := keywordsOf(v).text("type"); typ != member.typ {
				c.add(validation.Invalid(path.Child("properties").Key(member.name).Child("type"), typ, member.detail))
			}
		}
	}
	if meta, ok := properties["metadata"]; ok && at == atRoot && !namesOnly(keywordsOf(meta)) {
		c.add(validation.Forbidden(path.Child("properties").Key("metadata"), "must not specify anything other than name and generateName, but metadata is implicitly specified"))
	}
}

// namesOnly reports whether a schema of metadata speaks of name and generateName
// alone.
func namesOnly(p keywords) bool {
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

// integerOrString is how an anyOf says what x-kubernetes-int-or-string does.
var integerOrString = []any{map[string]any{"type": "integer"}, map[string]any{"type": "string"}}

// typesOnly reports whether a schema's anyOf is that.
func typesOnly(p keywords) bool { return object.Equal(p["anyOf"], integerOrString) }

// junctors checks the junctors and the pattern of a schema. Types may stand in
// its anyOf if typed says so, and in that of its first allOf if typedFirst does.
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
		if _, err := regexp.Compile(pattern); err != nil {
			c.add(validation.Invalid(path.Child("pattern"), pattern, "must be a valid regular expression, but isn't: "+err.Error()))
		}
	}
}

// structureKeywords are those that no schema in a junctor has, and how they have
// to be instead.
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

// nested checks a schema in a junctor.
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
		said := p.has(keyword.name) && v != false
		switch keyword.name {
		case "additionalProperties":
			said = said || isObject(v)
		case "default":
			said = v != nil
		}
		if said {
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

// complete checks that what the junctors in v name, which is at the path vPath,
// is named by the schema s outside of them, too.
func (c *structural) complete(v, s keywords, vPath, sPath *validation.Path) {
	if not, ok := v["not"].(map[string]any); ok {
		c.covered(not, s, vPath.Child("not"), sPath)
	}
	for _, junctor := range []string{"allOf", "anyOf", "oneOf"} {
		for i, branch := range v.list(junctor) {
			c.covered(keywordsOf(branch), s, vPath.Child(junctor).Index(i), sPath)
		}
	}
}

// covered checks that s names what v does, a schema in a junctor. A nil s is
// missing.
func (c *structural) covered(v, s keywords, vPath, sPath *validation.Path) {
	if s == nil {
		c.add(validation.Required(sPath, "because it is defined in "+vPath.String()))
		return
	}
	c.complete(v, s, vPath, sPath)
	if items, ok := v["items"].(map[string]any); ok {
		c.covered(items, keywordsOf(s["items"]), vPath.Child("items"), sPath.Child("items"))
	}
	properties := keywordsOf(v["properties"])
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		c.covered(keywordsOf(properties[name]), keywordsOf(keywordsOf(s["properties"])[name]),
			vPath.Child("properties").Key(name), sPath.Child("properties").Key(name))
	}
}
