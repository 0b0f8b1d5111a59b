package schema

import (
	"errors"
	"fmt"
	"regexp"
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
	plain := p.isSimple()
	if !plain {
		if err := p.checkSupported(); err != nil {
			return nil, err
		}
	}
	s := &Schema{
		Type:             p.text("type"),
		Format:           p.text("format"),
		Required:         p.texts("required"),
		Default:          p["default"],
		HasDefault:       p["default"] != nil,
		Nullable:         p.flag("nullable"),
		ListType:         p.text("x-kubernetes-list-type"),
		ListMapKeys:      p.texts("x-kubernetes-list-map-keys"),
		MapType:          p.text("x-kubernetes-map-type"),
		IntOrString:      p.flag("x-kubernetes-int-or-string"),
		EmbeddedResource: p.flag("x-kubernetes-embedded-resource"),
	}
	s.PreserveUnknownFields = p.flag("x-kubernetes-preserve-unknown-fields")

	var err error
	if properties := keywordsOf(p["properties"]); len(properties) > 0 {
		s.Properties = make(map[string]*Schema, len(properties))
		for name, property := range properties {
			if s.Properties[name], err = fromValue(property); err != nil {
				return nil, err
			}
		}
	}
	closed := false
	switch additional := p["additionalProperties"].(type) {
	case bool:
		s.Additional, closed = &Schema{Nullable: true}, !additional
	case map[string]any:
		if s.Additional, err = FromProps(additional); err != nil {
			return nil, err
		}
	}
	if items, ok := p["items"].(map[string]any); ok {
		if s.Items, err = FromProps(items); err != nil {
			return nil, err
		}
	}
	s.hasDefaults = s.HasDefault || s.Items != nil && s.Items.hasDefaults
	for _, property := range s.Properties {
		s.hasDefaults = s.hasDefaults || property.hasDefaults
	}
	if format := s.recognizedFormat(); !plain || closed || format != "" {
		s.Constraints, err = p.constraints(format, closed)
	}
	return s, err
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

// isSimple reports whether the schema has only frequent keywords, all of which are
// supported and need no Constraints.
func (p keywords) isSimple() bool {
	for keyword, v := range p {
		switch keyword {
		case "description", "type", "format", "default", "nullable", "required", "properties", "additionalProperties":
		case "items":
			if _, ok := v.(map[string]any); !ok {
				return false
			}
		default:
			return false
		}
	}
	return true
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
		format:           stringFormats[normalizeFormat(format)],
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

func (p keywords) texts(keyword string) []string {
	var texts []string
	for _, v := range p.list(keyword) {
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
