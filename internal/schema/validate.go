package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// Validate validates a value and returns the errors that kube-apiserver reports for a custom
// resource: those of logical junctors first, then those of the value itself, then those of
// its fields in the order of their names.
//
// old is the value before an update, nil for a creation. Errors of unchanged values are
// omitted. Fields are correlated by name, elements of lists of type map by their keys;
// elements of other lists are not correlated.
//
// path is the path of the value, nil for an object.
func (s *Schema) Validate(value, old any, path *validation.Path) validation.List {
	return Options{}.Validate(s, value, old, path)
}

// Options are how the releases of kube-apiserver validate values differently. The zero
// Options are those of the newest release.
type Options struct {
	// FormatsOfStrings knows no formats of numbers, and accepts a number whether it fits the
	// type of its schema or not. The formats of strings apply to schemas of every type. So it
	// is in v1.35 and before.
	FormatsOfStrings bool
	// WithoutNameFormats does not know the formats k8s-short-name and k8s-long-name, as v1.34
	// and before.
	WithoutNameFormats bool
	// WithoutRatcheting reports the errors of unchanged values too.
	WithoutRatcheting bool
	// Pruned says that the values were pruned. Fields of the value that are the same in memory as
	// in the old value are not validated then: their errors would be omitted.
	Pruned bool
}

// Validate is [Schema.Validate] with the options.
func (o Options) Validate(s *Schema, value, old any, path *validation.Path) validation.List {
	if o.WithoutRatcheting {
		old = nil
	}
	v := validator{options: o}
	if o.Pruned {
		v.before, _ = old.(map[string]any)
	}
	r := v.value(s, value, nil, nil)
	if len(r.failures) > 0 && old != nil {
		r = v.value(s, value, nil, Correlate(s, value, old))
	}
	return r.errors(path)
}

// A validator validates values.
type validator struct {
	options Options
	// asWritten does not interpret Kubernetes extensions: IntOrString has no effect,
	// and types are compared with unrecognized formats too. Defaults are validated so.
	asWritten bool
	// before has the old fields of the validated value. Those that are still the same and
	// unchanged, see omits, are not validated.
	before map[string]any
}

// omits reports whether the failures of a field of the validated value would be dropped, because it
// is the same in memory as before and [CorrelatedValue.Unchanged]: what that compares otherwise has
// no schema or is a list of type map.
func (v validator) omits(s *Schema, name string, value any) bool {
	return !s.hasUnknown && !s.hasListTypes && object.Same(value, v.before[name])
}

// format returns the format that types are compared with.
func (v validator) format(s *Schema) string {
	switch {
	case v.asWritten:
		return s.Format
	case v.options.FormatsOfStrings:
		if v.options.stringFormat(s.Format) == nil {
			return ""
		}
		return s.Format
	case s.Constraints == nil:
		return ""
	}
	return s.Constraints.formatName
}

// formatCheck returns the check of strings by their format, nil if there is none.
func (v validator) formatCheck(s *Schema, c *Constraints) func(string) bool {
	if v.asWritten || v.options.FormatsOfStrings {
		return v.options.stringFormat(s.Format)
	}
	return c.format
}

// value validates the value at a path. It drops the failures of an unchanged value.
func (v validator) value(s *Schema, value any, at *validation.Path, old *CorrelatedValue) result {
	r := v.check(s, value, at, old)
	if len(r.failures) > 0 && old.Unchanged() {
		r.failures = nil
	}
	return r
}

// check validates the value at a path.
func (v validator) check(s *Schema, value any, at *validation.Path, old *CorrelatedValue) result {
	c := s.Constraints
	if c == nil {
		c = &noConstraints
	}
	var r result
	if value == nil {
		r.merge(v.checkType(s, nil, at))
		r.merge(c.enum(nil, at))
		return r
	}
	if v.hasType(s) {
		r.merge(v.checkType(s, value, at))
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
				r.addTypeError(at, s.Format, value)
			}
			r.score++
		}
	case int64, float64:
		r.merge(v.number(s, c, value, at))
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

// noConstraints allows every value.
var noConstraints Constraints

// hasType reports whether the schema has a type or format.
func (v validator) hasType(s *Schema) bool {
	return len(v.types(s)) > 0 || v.format(s) != ""
}

// types returns the types that the schema allows, none for any type.
func (v validator) types(s *Schema) []string {
	switch {
	case s.IntOrString && !v.asWritten:
		return []string{"integer", "string"}
	case s.Type != "":
		return []string{s.Type}
	}
	return nil
}

// checkType checks the type of a value.
func (v validator) checkType(s *Schema, value any, at *validation.Path) result {
	wanted := v.types(s)
	r := result{score: 1}
	if value == nil {
		if len(wanted) > 0 && !s.Nullable {
			r.score = 0
			r.addTypeError(at, joinTypes(wanted), "null")
		}
		return r
	}
	found, format := typeOf(value)
	numeric := slices.Contains(wanted, "number") || slices.Contains(wanted, "integer")
	fits := slices.Contains(wanted, found)
	switch n := value.(type) {
	case float64:
		fits = fits || slices.Contains(wanted, "integer") && isInteger(n)
	case int64:
		fits = fits || slices.Contains(wanted, "number")
	}
	wantedFormat := v.format(s)
	if wantedFormat != "" {
		if found != "string" && found != "array" {
			if !fits && format != wantedFormat {
				r.score = 0
				r.addTypeError(at, wantedFormat, format)
				return r
			}
		} else if !numeric {
			// The format of a string is checked by formatCheck, that of an array
			// not at all.
			return r
		}
	}
	if !fits {
		r.score = 0
		r.addTypeError(at, joinTypes(wanted), found)
	}
	return r
}

func joinTypes(types []string) string {
	if len(types) == 2 {
		return types[0] + "," + types[1]
	}
	if len(types) == 1 {
		return types[0]
	}
	return ""
}

// typeOf returns the type of a value, and the format of a number.
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

// junctors validates a value with anyOf, oneOf, allOf and not, in this order. Failures of
// unchanged values are not dropped.
func (v validator) junctors(c *Constraints, value any, at *validation.Path) result {
	v.before = nil
	r := result{score: 1}
	if len(c.AnyOf) > 0 {
		best, valid := v.bestMatch(c.AnyOf, value, at, 1)
		if valid == 0 {
			r.addMessage("%q must validate at least one schema (anyOf)", pathText(at))
		}
		r.merge(best)
	}
	if len(c.OneOf) > 0 {
		best, valid := v.bestMatch(c.OneOf, value, at, len(c.OneOf))
		switch valid {
		case 0:
			r.addMessage("%q must validate one and only one schema (oneOf). Found none valid", pathText(at))
			r.merge(best)
		case 1:
			r.merge(best)
		default:
			r.addMessage("%q must validate one and only one schema (oneOf). Found %d valid alternatives", pathText(at), valid)
		}
	}
	valid := 0
	for _, s := range c.AllOf {
		sub := v.check(s, value, at, nil)
		if len(sub.failures) == 0 {
			valid++
		}
		r.merge(sub)
	}
	if valid != len(c.AllOf) {
		hint := ""
		if valid == 0 {
			hint = ". None validated"
		}
		r.addMessage("%q must validate all the schemas (allOf)%s", pathText(at), hint)
	}
	if c.Not != nil && len(v.check(c.Not, value, at, nil).failures) == 0 {
		r.addMessage("%q must not validate the schema (not)", pathText(at))
	}
	return r
}

// bestMatch validates a value with alternatives until enough of them are valid. It returns
// the first valid result, or else the one with the highest score, and the number of valid
// results.
func (v validator) bestMatch(alternatives []*Schema, value any, at *validation.Path, enough int) (best result, valid int) {
	for i, s := range alternatives {
		r := v.check(s, value, at, nil)
		ok := len(r.failures) == 0
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

// enum checks that a value is in the enumeration.
func (c *Constraints) enum(value any, at *validation.Path) result {
	var r result
	if len(c.Enum) == 0 || slices.ContainsFunc(c.Enum, func(listed any) bool { return matches(value, listed) }) {
		return r
	}
	r.addFailure(at, fmt.Sprint("should be one of ", c.Enum), func(path *validation.Path) *validation.Error {
		listed := make([]string, len(c.Enum))
		for i, v := range c.Enum {
			listed[i] = supportedValueText(v)
		}
		return validation.NotSupported(path, value, listed)
	})
	return r
}

// matches reports whether value equals listed after a Go conversion to the type of listed.
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

// text checks the length and the pattern of a string. It reports the first failure.
func (c *Constraints) text(value string, at *validation.Path) result {
	var r result
	length := int64(-1)
	if c.MaxLength != nil || c.MinLength != nil {
		length = int64(utf8.RuneCountInString(value))
	}
	switch {
	case c.MaxLength != nil && length > *c.MaxLength:
		limit := int(*c.MaxLength)
		r.addFailure(at, fmt.Sprintf("should be at most %d chars long", limit), func(path *validation.Path) *validation.Error {
			return validation.TooLong(path, limit)
		})
	case c.MinLength != nil && length < *c.MinLength:
		r.addInvalid(at, value, "should be at least %d chars long", *c.MinLength)
	case c.Pattern == "":
	case c.pattern() == nil:
		r.addInvalid(at, value, "should match '%s, but pattern is invalid'", c.Pattern)
	case !c.pattern().MatchString(value):
		r.addInvalid(at, value, "should match '%s'", c.Pattern)
	}
	return r
}

// array validates the elements of a list, then their number.
func (v validator) array(s *Schema, c *Constraints, list []any, at *validation.Path, old *CorrelatedValue) result {
	r := result{score: 1}
	if s.Items != nil {
		for i, elem := range list {
			r.merge(v.value(s.Items, elem, at.Index(i), old.Element(i)))
		}
	}
	size := int64(len(list))
	if c.MinItems != nil && size < *c.MinItems {
		r.addInvalid(at, size, "should have at least %d items", *c.MinItems)
	}
	if c.MaxItems != nil && size > *c.MaxItems {
		r.addTooMany(at, "items", size, *c.MaxItems)
	}
	return r
}

// object checks the number of fields, validates the fields, then checks that the required
// fields are set.
func (v validator) object(s *Schema, c *Constraints, obj map[string]any, at *validation.Path, old *CorrelatedValue) result {
	var r result
	size := int64(len(obj))
	if c.MinProperties != nil && size < *c.MinProperties {
		r.addInvalid(at, size, "should have at least %d properties", *c.MinProperties)
	}
	if c.MaxProperties != nil && size > *c.MaxProperties {
		r.addTooMany(at, "properties", size, *c.MaxProperties)
	}
	var failed []memberResult
	for name, member := range obj {
		m := memberResult{name: name}
		var property *Schema
		switch property, m.declared = s.Properties[name]; {
		case m.declared && at == nil && v.omits(property, name, member):
		case m.declared:
			before := old.Field(name)
			if at == nil && (name == "kind" || name == "apiVersion") {
				before = nil // conversion changes apiVersion and kind
			}
			m.result = v.value(property, member, at.Child(name), before)
		case s.Additional == nil:
		case c.Closed:
			m.addForbidden(at, name)
		default:
			m.result = v.value(s.Additional, member, entry(at, name), old.Field(name))
		}
		if len(m.failures) > 0 {
			failed = append(failed, m)
		} else {
			r.score += m.score
		}
	}
	slices.SortFunc(failed, memberResult.compare)
	for _, m := range failed {
		r.merge(m.result)
	}
	for _, name := range s.Required {
		if _, ok := obj[name]; !ok {
			r.addFailure(at.Child(name), "is required", func(path *validation.Path) *validation.Error {
				return validation.Required(path, "")
			})
		}
	}
	return r
}

// A memberResult is the result of validating a field of an object.
type memberResult struct {
	name     string
	declared bool // the field is one of the properties of the schema
	result
}

// compare orders results: those of fields that are not declared are first.
func (m memberResult) compare(other memberResult) int {
	if m.declared != other.declared {
		if m.declared {
			return 1
		}
		return -1
	}
	return strings.Compare(m.name, other.name)
}

// addForbidden adds the failure of an unknown field.
func (r *result) addForbidden(at *validation.Path, name string) {
	text := pathText(at) + "." + name + " in body is a forbidden property"
	r.add(failure{at, text, func(path *validation.Path, text string) *validation.Error {
		return validation.Invalid(path, name, text)
	}})
}

// addTooMany adds the failure of a list or an object with too many parts.
func (r *result) addTooMany(at *validation.Path, parts string, size, limit int64) {
	r.addFailure(at, fmt.Sprintf("should have at most %d %s", limit, parts), func(path *validation.Path) *validation.Error {
		return validation.TooMany(path, int(size), int(limit))
	})
}

// entry returns the path of an entry of a map. If the map is the validated value, messages
// about its entries start with a dot.
func entry(at *validation.Path, name string) *validation.Path {
	if at == nil {
		name = "." + name
	}
	return at.Child(name)
}
