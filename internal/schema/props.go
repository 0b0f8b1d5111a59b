package schema

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/kubefake/kubefake/internal/object"
)

// FromProps returns the schema of an openAPIV3Schema of a CustomResourceDefinition, in
// canonical form. The schema refers to parts of props, which must not be changed later.
//
// FromProps returns an error if the schema has unsupported keywords, so that no objects can
// be served. The text is that of the condition of the definition.
func FromProps(props map[string]any) (*Schema, error) {
	p := keywords(props)
	s := &Schema{}
	below := s.setFrequent(p)
	if !s.simple {
		if err := p.checkSupported(); err != nil {
			return nil, err
		}
		s.setExtensions(p)
	}

	var err error
	if len(below.properties) > 0 {
		s.Properties = make(map[string]*Schema, len(below.properties))
		for name, property := range below.properties {
			of, err := fromValue(property)
			if err != nil {
				return nil, err
			}
			s.Properties[name] = of
			s.include(of)
		}
	}
	closed := false
	switch additional := below.additional.(type) {
	case bool:
		s.Additional, closed = &Schema{Nullable: true}, !additional
	case map[string]any:
		if s.Additional, err = FromProps(additional); err != nil {
			return nil, err
		}
		s.include(s.Additional)
	}
	if items, ok := below.items.(map[string]any); ok {
		if s.Items, err = FromProps(items); err != nil {
			return nil, err
		}
		s.include(s.Items)
	}
	s.hasDefaults = s.hasDefaults || s.HasDefault
	s.hasEmbedded = s.hasEmbedded || s.EmbeddedResource
	s.hasListTypes = s.hasListTypes || s.ListType == "set" || s.ListType == "map"
	s.hasUnknown = s.hasUnknown || s.PreserveUnknownFields || s.EmbeddedResource
	if format := s.recognizedFormat(); !s.simple || closed || format != "" {
		s.Constraints, err = p.constraints(format, closed)
	}
	return s, err
}

// include notes what a schema below s has.
func (s *Schema) include(below *Schema) {
	s.hasDefaults = s.hasDefaults || below.hasDefaults
	s.hasEmbedded = s.hasEmbedded || below.hasEmbedded
	s.hasListTypes = s.hasListTypes || below.hasListTypes
	s.hasUnknown = s.hasUnknown || below.hasUnknown
}

// subschemas are the keywords whose values are or may be schemas.
type subschemas struct {
	properties        keywords
	additional, items any
}

// setFrequent sets the fields of s from the frequent keywords, and whether there are only
// such. One walk over the keywords is faster than a search for each: most schemas have two.
func (s *Schema) setFrequent(p keywords) (below subschemas) {
	s.simple = true
	for keyword, v := range p {
		switch keyword {
		case "description":
		case "type":
			s.Type, _ = v.(string)
			s.simple = s.simple && slices.Contains(schemaTypes, s.Type)
		case "format":
			s.Format, _ = v.(string)
		case "default":
			s.Default, s.HasDefault = v, v != nil
		case "nullable":
			s.Nullable = v == true
		case "required":
			s.Required = textsOf(v)
		case "properties":
			below.properties = keywordsOf(v)
		case "additionalProperties":
			below.additional = v
		case "items":
			below.items = v
			s.simple = s.simple && isObject(v)
		default:
			s.simple = false
		}
	}
	return below
}

// setExtensions sets the fields of s from the extensions of Kubernetes, but its rules.
func (s *Schema) setExtensions(p keywords) {
	s.ListType = p.text("x-kubernetes-list-type")
	s.ListMapKeys = p.texts("x-kubernetes-list-map-keys")
	s.MapType = p.text("x-kubernetes-map-type")
	s.IntOrString = p.flag("x-kubernetes-int-or-string")
	s.EmbeddedResource = p.flag("x-kubernetes-embedded-resource")
	s.PreserveUnknownFields = p.flag("x-kubernetes-preserve-unknown-fields")
}

// fromValue is FromProps for a JSON value.
func fromValue(v any) (*Schema, error) { return FromProps(keywordsOf(v)) }

// keywords is a JSONSchemaProps of a CustomResourceDefinition.
type keywords map[string]any

// keywordsOf returns v if it is an object, else nil.
func keywordsOf(v any) keywords {
	p, _ := v.(map[string]any)
	return p
}

// optional returns a pointer to v, or nil if v is not a T.
func optional[T any](v any) *T {
	if t, ok := v.(T); ok {
		return &t
	}
	return nil
}

// checkSupported returns an error for the first unsupported keyword.
func (p keywords) checkSupported() error {
	for _, keyword := range []struct{ name, text string }{
		{"id", "id"}, {"$schema", "schema"}, {"$ref", "$ref"},
		{"patternProperties", "patternProperties"}, {"dependencies", "dependencies"},
		{"additionalItems", "additionalItems"}, {"definitions", "definitions"},
	} {
		if p.has(keyword.name) {
			return fmt.Errorf("OpenAPIV3Schema '%s' is not supported", keyword.text)
		}
	}
	if preserve, ok := p["x-kubernetes-preserve-unknown-fields"].(bool); ok && !preserve {
		return errors.New("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined")
	}
	if _, ok := p["items"].([]any); ok {
		return errors.New("OpenAPIV3Schema 'items' must be a schema, but is an array")
	}
	return nil
}

// constraints returns the value validations, nil if there are none. format is "" if it is
// not recognized.
func (p keywords) constraints(format string, closed bool) (*Constraints, error) {
	c := Constraints{
		Enum:             p.list("enum"),
		Pattern:          p.text("pattern"),
		MinLength:        p.integer("minLength"),
		MaxLength:        p.integer("maxLength"),
		Minimum:          p.number("minimum"),
		Maximum:          p.number("maximum"),
		ExclusiveMinimum: p.flag("exclusiveMinimum"),
		ExclusiveMaximum: p.flag("exclusiveMaximum"),
		MultipleOf:       p.number("multipleOf"),
		MinItems:         p.integer("minItems"),
		MaxItems:         p.integer("maxItems"),
		MinProperties:    p.integer("minProperties"),
		MaxProperties:    p.integer("maxProperties"),
		Closed:           closed,
		Rules:            p.rules(),
		formatName:       format,
		format:           stringFormats[NormalizeFormat(format)],
	}
	if c.Pattern != "" {
		c.pattern = sync.OnceValue(func() *regexp.Regexp {
			re, _ := regexp.Compile(c.Pattern)
			return re
		})
	}
	for _, junctor := range []struct {
		keyword string
		to      *[]*Schema
	}{{"allOf", &c.AllOf}, {"anyOf", &c.AnyOf}, {"oneOf", &c.OneOf}} {
		for _, v := range p.list(junctor.keyword) {
			s, err := fromValue(v)
			if err != nil {
				return nil, err
			}
			*junctor.to = append(*junctor.to, s)
		}
	}
	if not, ok := p["not"].(map[string]any); ok {
		var err error
		if c.Not, err = FromProps(not); err != nil {
			return nil, err
		}
	}
	if c.empty() {
		return nil, nil
	}
	return &c, nil
}

// empty reports whether the constraints allow everything.
func (c *Constraints) empty() bool {
	return c.Enum == nil && c.Pattern == "" && c.MinLength == nil && c.MaxLength == nil &&
		c.Minimum == nil && c.Maximum == nil && c.MultipleOf == nil &&
		c.MinItems == nil && c.MaxItems == nil && c.MinProperties == nil && c.MaxProperties == nil &&
		!c.Closed && c.AllOf == nil && c.AnyOf == nil && c.OneOf == nil && c.Not == nil &&
		c.Rules == nil && c.formatName == ""
}

// rules returns x-kubernetes-validations.
func (p keywords) rules() []Rule {
	var rules []Rule
	for _, v := range p.list("x-kubernetes-validations") {
		rule := keywordsOf(v)
		rules = append(rules, Rule{
			Rule:              rule.text("rule"),
			Message:           rule.text("message"),
			MessageExpression: rule.text("messageExpression"),
			Reason:            optional[string](rule["reason"]),
			FieldPath:         rule.text("fieldPath"),
			OptionalOldSelf:   optional[bool](rule["optionalOldSelf"]),
		})
	}
	return rules
}

// has reports whether the keyword is set to a non-empty value.
func (p keywords) has(keyword string) bool {
	switch v := p[keyword].(type) {
	case nil, object.EmptyMap:
		return false
	case string:
		return v != ""
	case map[string]any:
		return len(v) > 0 || keyword == "additionalItems"
	}
	return true
}

func (p keywords) text(keyword string) string {
	s, _ := p[keyword].(string)
	return s
}

func (p keywords) flag(keyword string) bool {
	b, _ := p[keyword].(bool)
	return b
}

func (p keywords) list(keyword string) []any {
	l, _ := p[keyword].([]any)
	return l
}

func (p keywords) texts(keyword string) []string { return textsOf(p[keyword]) }

// textsOf returns the strings in v, if that is a list.
func textsOf(v any) []string {
	list, _ := v.([]any)
	var texts []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			texts = append(texts, s)
		}
	}
	return texts
}

func (p keywords) integer(keyword string) *int64 { return optional[int64](p[keyword]) }

func (p keywords) number(keyword string) *float64 {
	switch n := p[keyword].(type) {
	case int64:
		f := float64(n)
		return &f
	case float64:
		return &n
	}
	return nil
}
