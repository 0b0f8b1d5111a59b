package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/kubefake/kubefake/internal/validation"
)

// Validate checks a value and returns the errors that a kube-apiserver reports
// for a custom resource: those of alternatives first, then those of the value
// itself, and those of its parts in the order of their names.
//
// With an old value, what is wrong with a part that has not changed is passed
// over. Parts correspond by name and, in lists of the type map, by their keys;
// elements of other lists do not. An old value of nil is for a creation.
//
// The path is that of the value; nil is the top of an object.
func (s *Schema) Validate(value, old any, path *validation.Path) validation.List {
	r := validator{}.value(s, value, nil, Correlate(s, value, old))
	return r.list(path)
}

// A validator checks values.
type validator struct {
	// written takes schemas as they are written, which is how defaults are
	// checked: then an integer or string is not of these types unless a junctor
	// says so, and formats without a meaning count when types are compared.
	written bool
}

// format is the schema's format as types are compared.
func (v validator) format(s *Schema) string {
	switch {
	case v.written:
		return s.Format
	case s.Constraints == nil:
		return ""
	}
	return s.Constraints.formatName
}

// formatCheck is the check of the schema's strings by its format, nil for none.
func (v validator) formatCheck(s *Schema, c *Constraints) func(string) bool {
	if v.written {
		return stringFormats[undashed(s.Format)]
	}
	return c.format
}

// value checks the value at a path, and passes over what is wrong with it if it
// is what it was.
func (v validator) value(s *Schema, value any, at *validation.Path, old *CorrelatedValue) result {
	r := v.check(s, value, at, old)
	if len(r.faults) > 0 && old.Unchanged() {
		r.faults = nil
	}
	return r
}

// check makes all checks of the value at a path.
func (v validator) check(s *Schema, value any, at *validation.Path, old *CorrelatedValue) result {
	c := s.Constraints
	if c == nil {
		c = &none
	}
	var r result
	if value == nil {
		r.merge(v.typ(s, nil, at))
		r.merge(c.enum(nil, at))
		return r
	}
	if v.typed(s) {
		r.merge(v.typ(s, value, at))
		r.score++
	}
	r.merge(v.junctors(c, value, at))
	r.score++
	switch value := value.(type) {
	case string:
		r.merge(c.text(value, at))
		r.score++
		if is := v.formatCheck(s, c); is != nil {
			if !is(value) {
				r.mistyped(at, s.Format, value)
			}
			r.score++
		}
	case int64, float64:
		r.merge(c.number(s, value, at))
		r.score++
	case []any:
		r.merge(v.array(s, c, value, at, old))
		r.score++
	}
	r.merge(c.enum(value, at))
	r.score++
	if obj, ok := value.(map[string]any); ok {
		r.merge(v.object(s, c, obj, at, old))
		r.score++
	}
	r.score++
	return r
}

// none constrains nothing.
var none Constraints

// typed reports whether the schema says what sort of value it takes.
func (v validator) typed(s *Schema) bool {
	return len(v.types(s)) > 0 || v.format(s) != ""
}

// types are the types that the schema takes, none for any.
func (v validator) types(s *Schema) []string {
	switch {
	case s.IntOrString && !v.written:
		return []string{"integer", "string"}
	case s.Type != "":
		return []string{s.Type}
	}
	return nil
}

// typ checks the sort of a value.
func (v validator) typ(s *Schema, value any, at *validation.Path) result {
	wanted := v.types(s)
	r := result{score: 1}
	if value == nil {
		if len(wanted) > 0 && !s.Nullable {
			r.score = 0
			r.mistyped(at, joined(wanted), "null")
		}
		return r
	}
	found, format := typeOf(value)
	numeric := slices.Contains(wanted, "number") || slices.Contains(wanted, "integer")
	fits := slices.Contains(wanted, found)
	switch n := value.(type) {
	case float64:
		fits = fits || slices.Contains(wanted, "integer") && integral(n)
	case int64:
		fits = fits || slices.Contains(wanted, "number")
	}
	wantedFormat := v.format(s)
	if wantedFormat != "" {
		if found != "string" && found != "array" {
			if !fits && format != wantedFormat {
				r.score = 0
				r.mistyped(at, wantedFormat, format)
				return r
			}
		} else if !numeric {
			// A format is for a string's own check to judge, and nobody's for an
			// array.
			return r
		}
	}
	if !fits {
		r.score = 0
		r.mistyped(at, joined(wanted), found)
	}
	return r
}

func joined(types []string) string {
	if len(types) == 2 {
		return types[0] + "," + types[1]
	}
	if len(types) == 1 {
		return types[0]
	}
	return ""
}

// typeOf names the sort of a value, and the format that a number has.
func typeOf(value any) (typ, format string) {
	switch value.(type) {
	case string:
		return "string", ""
	case bool:
		return "boolean", ""
	case int64:
		return "integer", "int64"
	case float64:
		return "number", "float64"
	case []any:
		return "array", ""
	}
	return "object", ""
}

// junctors checks a value against anyOf, oneOf, allOf and not, in this order.
// Nothing in them is passed over for not having changed.
func (v validator) junctors(c *Constraints, value any, at *validation.Path) result {
	r := result{score: 1}
	if len(c.AnyOf) > 0 {
		best, valid := v.best(c.AnyOf, value, at, 1)
		if valid == 0 {
			r.whole("%q must validate at least one schema (anyOf)", pathText(at))
		}
		r.merge(best)
	}
	if len(c.OneOf) > 0 {
		best, valid := v.best(c.OneOf, value, at, len(c.OneOf))
		switch valid {
		case 0:
			r.whole("%q must validate one and only one schema (oneOf). Found none valid", pathText(at))
			r.merge(best)
		case 1:
			r.merge(best)
		default:
			r.whole("%q must validate one and only one schema (oneOf). Found %d valid alternatives", pathText(at), valid)
		}
	}
	valid := 0
	for _, s := range c.AllOf {
		part := v.check(s, value, at, nil)
		if len(part.faults) == 0 {
			valid++
		}
		r.merge(part)
	}
	if valid != len(c.AllOf) {
		hint := ""
		if valid == 0 {
			hint = ". None validated"
		}
		r.whole("%q must validate all the schemas (allOf)%s", pathText(at), hint)
	}
	if c.Not != nil && len(v.check(c.Not, value, at, nil).faults) == 0 {
		r.whole("%q must not validate the schema (not)", pathText(at))
	}
	return r
}

// best checks a value against alternatives until enough of them are valid. It
// returns the first result that is valid, or else the one that came furthest,
// and how many are valid.
func (v validator) best(alternatives []*Schema, value any, at *validation.Path, enough int) (best result, valid int) {
	for i, s := range alternatives {
		r := v.check(s, value, at, nil)
		ok := len(r.faults) == 0
		if valid == 0 && (i == 0 || ok || r.score > best.score) {
			best = r
		}
		if ok {
			valid++
		}
		if valid == enough {
			break
		}
	}
	return best, valid
}

// enum checks that a value is one of those listed.
func (c *Constraints) enum(value any, at *validation.Path) result {
	var r result
	if len(c.Enum) == 0 || slices.ContainsFunc(c.Enum, func(listed any) bool { return matches(value, listed) }) {
		return r
	}
	r.refused(at, fmt.Sprint("should be one of ", c.Enum), func(path *validation.Path) *validation.Error {
		listed := make([]string, len(c.Enum))
		for i, v := range c.Enum {
			listed[i] = listedText(v)
		}
		return validation.NotSupported(path, value, listed)
	})
	return r
}

// matches reports whether a value is the one listed, once it has been converted
// as Go converts between their types.
func matches(value, listed any) bool {
	switch listed := listed.(type) {
	case int64:
		if f, ok := value.(float64); ok {
			return int64(f) == listed
		}
	case float64:
		if i, ok := value.(int64); ok {
			return float64(i) == listed
		}
	case string:
		if i, ok := value.(int64); ok {
			return string(rune(i)) == listed
		}
	}
	return value != nil && reflect.DeepEqual(value, listed)
}

// text checks the length and the pattern of a string, up to the first that does
// not fit.
func (c *Constraints) text(value string, at *validation.Path) result {
	var r result
	length := int64(-1)
	if c.MaxLength != nil || c.MinLength != nil {
		length = int64(utf8.RuneCountInString(value))
	}
	switch {
	case c.MaxLength != nil && length > *c.MaxLength:
		limit := int(*c.MaxLength)
		r.refused(at, fmt.Sprintf("should be at most %d chars long", limit), func(path *validation.Path) *validation.Error {
			return validation.TooLong(path, limit)
		})
	case c.MinLength != nil && length < *c.MinLength:
		r.invalid(at, value, "should be at least %d chars long", *c.MinLength)
	case c.Pattern == "":
	case c.pattern == nil:
		r.invalid(at, value, "should match '%s, but pattern is invalid'", c.Pattern)
	case !c.pattern.MatchString(value):
		r.invalid(at, value, "should match '%s'", c.Pattern)
	}
	return r
}

// array checks the elements of a list, then their number.
func (v validator) array(s *Schema, c *Constraints, list []any, at *validation.Path, old *CorrelatedValue) result {
	r := result{score: 1}
	if s.Items != nil {
		for i, elem := range list {
			r.merge(v.value(s.Items, elem, at.Index(i), old.Element(i)))
		}
	}
	size := int64(len(list))
	if c.MinItems != nil && size < *c.MinItems {
		r.invalid(at, size, "should have at least %d items", *c.MinItems)
	}
	if c.MaxItems != nil && size > *c.MaxItems {
		r.tooMany(at, "items", size, *c.MaxItems)
	}
	return r
}

// object checks the number of an object's members, then the members, then that
// the required ones are there.
func (v validator) object(s *Schema, c *Constraints, obj map[string]any, at *validation.Path, old *CorrelatedValue) result {
	var r result
	size := int64(len(obj))
	if c.MinProperties != nil && size < *c.MinProperties {
		r.invalid(at, size, "should have at least %d properties", *c.MinProperties)
	}
	if c.MaxProperties != nil && size > *c.MaxProperties {
		r.tooMany(at, "properties", size, *c.MaxProperties)
	}
	names := slices.Sorted(maps.Keys(obj))
	for _, name := range names {
		switch _, ok := s.Properties[name]; {
		case ok || s.Additional == nil:
		case c.Closed:
			r.forbidden(at, name)
		default:
			r.merge(v.value(s.Additional, obj[name], entry(at, name), old.Field(name)))
		}
	}
	for _, name := range names {
		if property, ok := s.Properties[name]; ok {
			before := old.Field(name)
			if at == nil && (name == "kind" || name == "apiVersion") {
				before = nil // these two change by conversion
			}
			r.merge(v.value(property, obj[name], at.Child(name), before))
		}
	}
	for _, name := range s.Required {
		if _, ok := obj[name]; !ok {
			r.refused(at.Child(name), "is required", func(path *validation.Path) *validation.Error {
				return validation.Required(path, "")
			})
		}
	}
	return r
}

// forbidden adds that an object must not have a member.
func (r *result) forbidden(at *validation.Path, name string) {
	text := pathText(at) + "." + name + " in body is a forbidden property"
	r.add(fault{at, text, func(path *validation.Path, text string) *validation.Error {
		return validation.Invalid(path, name, text)
	}})
}

// tooMany adds that a list or an object has more parts than it may.
func (r *result) tooMany(at *validation.Path, parts string, size, limit int64) {
	r.refused(at, fmt.Sprintf("should have at most %d %s", limit, parts), func(path *validation.Path) *validation.Error {
		return validation.TooMany(path, int(size), int(limit))
	})
}

// entry is the path of an entry of a map. The sentences about the entries of a
// map that is all there is begin with a dot.
func entry(at *validation.Path, name string) *validation.Path {
	if at == nil {
		name = "." + name
	}
	return at.Child(name)
}
