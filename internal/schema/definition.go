package schema

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

// A DefinitionCheck checks the schemas of a CustomResourceDefinition.
type DefinitionCheck struct {
	// Status is whether the version has the status subresource.
	Status bool
	// Rules checks x-kubernetes-validations. If it is nil, they are not checked.
	Rules RuleChecker
}

// A RuleChecker checks the validation rules of a schema.
type RuleChecker interface {
	// CheckRules compiles the rules of the sites. The sites of subschemas come
	// first. path is the path of the openAPIV3Schema.
	CheckRules(sites []RuleSite, path *validation.Path) validation.List

	// CheckDefault evaluates the rules of s and its subschemas on a default.
	// isResourceRoot is whether s is the schema of the resource or of an embedded
	// one. path is the path of the default.
	CheckDefault(s *Schema, isResourceRoot bool, value any, path *validation.Path) validation.List
}

// A RuleSite is a schema with rules.
type RuleSite struct {
	Schema *Schema
	// Path is the path of the schema.
	Path *validation.Path
	// IsResourceRoot is whether the schema is that of the resource or of an embedded
	// one.
	IsResourceRoot bool
	// Cardinality is the maximal number of values of the schema in an object, nil if
	// it is not limited.
	Cardinality *uint64
	// Uncorrelatable is the path of the outermost enclosing schema whose elements
	// cannot be correlated with old ones, nil if there is none. Rules below it cannot
	// use oldSelf.
	Uncorrelatable *validation.Path
}

// Check validates an openAPIV3Schema in canonical form. It returns the schema, nil if
// FromProps fails, and what is wrong with it. The errors of rules come last.
//
// Differs from kube-apiserver: updates of CustomResourceDefinitions:
// kube-apiserver keeps parts of a schema that only an older release accepted.
// Here they fail validation. Request: PUT of a CustomResourceDefinition with
// such a schema.
func (o DefinitionCheck) Check(props map[string]any, path *validation.Path) (*Schema, validation.List) {
	p := keywords(props)
	var list validation.List
	if o.Status {
		list = append(list, p.rootWithStatus(path)...)
	}
	if p.flag("nullable") {
		list = append(list, validation.Forbidden(path.Child("nullable"), "nullable cannot be true at the root"))
	}
	s, unsupported := FromProps(props)
	valid := false
	if unsupported == nil {
		errs := Structural(props, s, path)
		if len(errs) == 0 {
			errs = defaultCheck{o.Rules}.resource(s, path)
		}
		valid = len(errs) == 0
		list = append(list, errs...)
	}
	d := definitionChecker{}
	one := uint64(1)
	d.schema(p, s, schemaContext{path: path, root: true, cardinality: &one})
	list = append(list, d.list...)
	if unsupported != nil && len(list) == 0 {
		list = append(list, validation.Invalid(path, "", unsupported.Error()))
	}
	if valid && o.Rules != nil && len(d.rules) > 0 {
		list = append(list, o.Rules.CheckRules(d.rules, path)...)
	}
	return s, list
}

// A definitionChecker collects the errors of schemas, and the sites of rules in schemas
// without errors.
type definitionChecker struct {
	list  validation.List
	rules []RuleSite
}

// A schemaContext describes where in the openAPIV3Schema a schema is.
type schemaContext struct {
	path *validation.Path
	root bool
	// inMeta is whether the schema is within apiVersion, kind or metadata.
	inMeta bool
	// noDefaults is the reason why defaults are forbidden, "" if they are allowed.
	noDefaults     string
	cardinality    *uint64
	uncorrelatable *validation.Path
}

func (d *definitionChecker) add(e *validation.Error) { d.list = append(d.list, e) }

// schema checks a schema and its subschemas. s is the result of FromProps for p, nil if
// that failed or if the schema is within a logical junctor (allOf, anyOf, oneOf, not).
func (d *definitionChecker) schema(p keywords, s *Schema, at schemaContext) {
	before := len(d.list)
	simple := s != nil && s.simple
	if !simple || s.HasDefault || s.Additional != nil {
		d.keywords(p, at)
	}
	if !simple || s.Items != nil || len(s.Properties) > 0 || s.Additional != nil {
		d.subschemas(p, s, at)
	}
	if simple {
		return // it has no other keywords
	}
	d.mapAndListTypes(p, at.path)
	if d.checkRules(p, at.path) && s != nil && len(d.list) == before {
		d.rules = append(d.rules, RuleSite{
			Schema:         s,
			Path:           at.path,
			IsResourceRoot: at.root || s.EmbeddedResource,
			Cardinality:    at.cardinality,
			Uncorrelatable: at.uncorrelatable,
		})
	}
}

// keywords checks forbidden keywords and keywords with a fixed set of values.
func (d *definitionChecker) keywords(p keywords, at schemaContext) {
	forbidden := func(keyword, detail string) { d.add(validation.Forbidden(at.path.Child(keyword), detail)) }
	typ := p.text("type")
	if typ != "" && !slices.Contains(schemaTypes, typ) {
		d.add(validation.NotSupported(at.path.Child("type"), typ, schemaTypes))
	}
	if p["default"] != nil && at.noDefaults != "" {
		forbidden("default", "must not be set "+at.noDefaults)
	}
	for _, keyword := range []string{"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"} {
		if p.has(keyword) || (keyword == "$ref" || keyword == "dependencies") && p[keyword] != nil {
			forbidden(keyword, keyword+" is not supported")
		}
	}
	if typ == "null" {
		forbidden("type", "type cannot be set to null, use nullable as an alternative")
	}
	if _, ok := p["items"].([]any); ok {
		forbidden("items", "items must be a schema object and not an array")
	}
	if at.inMeta && p.flag("x-kubernetes-embedded-resource") {
		forbidden("x-kubernetes-embedded-resource", "must not be used inside of resource meta")
	}
	if p.flag("uniqueItems") {
		forbidden("uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic")
	}
	if additional := p["additionalProperties"]; additional != nil && additional != true && p.has("properties") {
		forbidden("additionalProperties", "additionalProperties and properties are mutual exclusive")
	}
}

// schemaTypes has the valid types.
var schemaTypes = []string{"array", "boolean", "integer", "number", "object", "string"}

// subschemas checks the subschemas of a schema.
func (d *definitionChecker) subschemas(p keywords, s *Schema, at schemaContext) {
	root := at.root
	at.root = false
	below := at
	below.cardinality = cardinality(p, at.cardinality)
	if additional, ok := p["additionalProperties"].(map[string]any); ok {
		sub := below
		sub.path = at.path.Child("additionalProperties")
		if at.inMeta {
			sub.noDefaults = "inside additionalProperties applying to object metadata"
		}
		d.schema(additional, subschema(s, func() *Schema { return s.Additional }), sub)
	}
	d.properties(p, s, root, below)

	d.nested(p["not"], at, at.path.Child("not"))
	for _, junctor := range []string{"allOf", "oneOf", "anyOf"} {
		for i, v := range p.list(junctor) {
			d.nested(v, at, at.path.Child(junctor).Index(i))
		}
	}
	definitions := keywordsOf(p["definitions"])
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		d.nested(definitions[name], at, at.path.Child("definitions").Key(name))
	}

	if p.text("x-kubernetes-list-type") != "map" && below.uncorrelatable == nil {
		below.uncorrelatable = at.path
	}
	below.path = at.path.Child("items")
	switch items := p["items"].(type) {
	case map[string]any:
		d.schema(items, subschema(s, func() *Schema { return s.Items }), below)
	case []any:
		for i, v := range items {
			d.nested(v, at, below.path.Index(i))
		}
	}
	dependencies := keywordsOf(p["dependencies"])
	for _, name := range slices.Sorted(maps.Keys(dependencies)) {
		d.nested(dependencies[name], at, at.path.Child("dependencies").Key(name))
	}
}

// properties checks the schemas of properties. root is whether p is the schema of the
// resource. at is the context of the properties with the path of p.
func (d *definitionChecker) properties(p keywords, s *Schema, root bool, at schemaContext) {
	properties := keywordsOf(p["properties"])
	path := at.path.Child("properties")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		sub := at
		sub.path = path.Key(name)
		if isMeta(name) && (root || p.flag("x-kubernetes-embedded-resource")) {
			sub.inMeta = true
			if root {
				sub.noDefaults = "in top-level " + name
			}
		}
		d.schema(keywordsOf(properties[name]), subschema(s, func() *Schema { return s.Properties[name] }), sub)
	}
}

// subschema returns get(), or nil if s is nil.
func subschema(s *Schema, get func() *Schema) *Schema {
	if s == nil {
		return nil
	}
	return get()
}

// nested checks the schema v within a logical junctor. v may be nil.
func (d *definitionChecker) nested(v any, at schemaContext, path *validation.Path) {
	if p, ok := v.(map[string]any); ok {
		at.path = path
		d.schema(p, nil, at)
	}
}

// cardinality returns the maximal number of elements or values in count lists or maps of
// the schema p, nil if it is not limited.
func cardinality(p keywords, count *uint64) *uint64 {
	var limit *int64
	switch {
	case p.text("type") == "array":
		limit = p.integer("maxItems")
	case p.text("type") == "object" && p["additionalProperties"] != nil:
		limit = p.integer("maxProperties")
	default:
		return count
	}
	if count == nil || limit == nil {
		return nil
	}
	product := SaturatingMul(*count, uint64(max(*limit, 0)))
	return &product
}

// SaturatingMul returns a*b, or math.MaxUint64 if that overflows. It multiplies
// cardinalities with each other and with costs.
func SaturatingMul(a, b uint64) uint64 {
	if high, low := bits.Mul64(a, b); high == 0 {
		return low
	}
	return math.MaxUint64
}

// mapAndListTypes checks the extensions for maps and lists.
func (d *definitionChecker) mapAndListTypes(p keywords, path *validation.Path) {
	typ := p.text("type")
	ofType := func(keyword, wanted string) bool {
		if p[keyword] == nil || typ == wanted {
			return true
		}
		detail := "must be " + wanted + " if " + keyword + " is specified"
		if typ == "" {
			d.add(validation.Required(path.Child("type"), detail))
		} else {
			d.add(validation.Invalid(path.Child("type"), typ, detail))
		}
		return false
	}
	oneOf := func(keyword string, values ...string) {
		if v, ok := p[keyword].(string); ok && !slices.Contains(values, v) {
			d.add(validation.NotSupported(path.Child(keyword), v, values))
		}
	}
	if p["x-kubernetes-preserve-unknown-fields"] == false {
		d.add(validation.Invalid(path.Child("x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined"))
	}
	ofType("x-kubernetes-map-type", "object")
	oneOf("x-kubernetes-map-type", "atomic", "granular")
	if ofType("x-kubernetes-list-type", "array") && p.text("x-kubernetes-list-type") == "set" {
		d.setItems(keywordsOf(p["items"]), path.Child("items"))
	}
	oneOf("x-kubernetes-list-type", "atomic", "set", "map")
	d.mapList(p, path)
	d.listKeys(p, path.Child("items"))
}

// setItems checks that the items of a list of type set are atomic.
func (d *definitionChecker) setItems(items keywords, path *validation.Path) {
	const detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
	listType := items["x-kubernetes-list-type"]
	switch items.text("type") {
	case "array":
		if listType != nil && listType != "atomic" {
			d.add(validation.Invalid(path.Child("x-kubernetes-list-type"), validation.NamedString(items.text("x-kubernetes-list-type")), detail))
		}
	case "object":
		if items["x-kubernetes-map-type"] != "atomic" {
			d.add(validation.Invalid(path.Child("x-kubernetes-map-type"), listType, detail))
		}
	}
}

// mapList checks the keys of a list of type map.
func (d *definitionChecker) mapList(p keywords, path *validation.Path) {
	keysPath, listPath := path.Child("x-kubernetes-list-map-keys"), path.Child("x-kubernetes-list-type")
	keys, isMap := p.texts("x-kubernetes-list-map-keys"), p.text("x-kubernetes-list-type") == "map"
	if len(keys) > 0 && !isMap {
		const detail = "must be map if x-kubernetes-list-map-keys is non-empty"
		if listType, ok := p["x-kubernetes-list-type"]; ok {
			d.add(validation.Invalid(listPath, listType, detail))
		} else {
			d.add(validation.Required(listPath, detail))
		}
	}
	if !isMap {
		return
	}
	if len(keys) == 0 {
		d.add(validation.Required(keysPath, "must not be empty if x-kubernetes-list-type is map"))
	}
	items, ok := p["items"].(map[string]any)
	if !ok {
		if p["items"] == nil {
			d.add(validation.Required(path.Child("items"), "must have a schema if x-kubernetes-list-type is map"))
		} else {
			d.add(validation.Invalid(path.Child("items"), unversioned.Value{Type: "apiextensions.JSONSchemaPropsOrArray", Value: p["items"]}, "must only have a single schema if x-kubernetes-list-type is map"))
		}
		return
	}
	itemType := keywords(items).text("type")
	if itemType != "object" {
		d.add(validation.Invalid(path.Child("items").Child("type"), itemType, "must be object if parent array's x-kubernetes-list-type is map"))
		return
	}
	properties := keywordsOf(items["properties"])
	for i, key := range keys {
		property, ok := properties[key]
		switch typ := keywordsOf(property).text("type"); {
		case !ok:
			d.add(validation.Invalid(keysPath, keys, "entries must all be names of item properties"))
		case typ == "array" || typ == "object":
			d.add(validation.Invalid(path.Child("items").Child("properties").Key(key).Child("type"), itemType, "must be a scalar type if parent array's x-kubernetes-list-type is map"))
		}
		if slices.Contains(keys[:i], key) {
			d.add(validation.Invalid(keysPath, keys, "must not contain duplicate entries"))
		}
	}
}

// listKeys checks that the items of lists of type set and map and the keys of the
// latter cannot be null or absent. path is the path of the items.
func (d *definitionChecker) listKeys(p keywords, path *validation.Path) {
	listType := p.text("x-kubernetes-list-type")
	items, ok := p["items"].(map[string]any)
	if !ok || listType != "set" && listType != "map" {
		return
	}
	if keywords(items).flag("nullable") {
		d.add(validation.Forbidden(path.Child("nullable"), "cannot be nullable when x-kubernetes-list-type is "+listType))
	}
	if listType == "set" {
		return
	}
	required := keywords(items).texts("required")
	for _, key := range p.texts("x-kubernetes-list-map-keys") {
		v, ok := keywordsOf(items["properties"])[key]
		if !ok {
			continue
		}
		property, at := keywordsOf(v), path.Child("properties").Key(key)
		if property["default"] == nil && !slices.Contains(required, key) {
			d.add(validation.Required(at.Child("default"), "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"))
		}
		if property.flag("nullable") {
			d.add(validation.Forbidden(at.Child("nullable"), "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"))
		}
	}
}

// ruleReasons has the valid reasons of rules.
var ruleReasons = []string{"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"}

// checkRules checks the rules of a schema without compiling them, and reports whether
// there are any.
func (d *definitionChecker) checkRules(p keywords, path *validation.Path) bool {
	rules := p.rules()
	for i, r := range rules {
		at := path.Child("x-kubernetes-validations").Index(i)
		rule, message := strings.TrimSpace(r.Rule), strings.TrimSpace(r.Message)
		switch {
		case rule == "":
			d.add(validation.Required(at.Child("rule"), "rule is not specified"))
		case r.Message != "" && message == "":
			d.add(validation.Invalid(at.Child("message"), r.Message, "must be non-empty if specified").Before(behavior.PlainDetails, validation.Detail("message must be non-empty if specified")))
		case hasLineBreak(message):
			d.add(validation.Invalid(at.Child("message"), r.Message, "must not contain line breaks").Before(behavior.PlainDetails, validation.Detail("message must not contain line breaks")))
		case hasLineBreak(rule) && message == "":
			d.add(validation.Required(at.Child("message"), "message must be specified if rule contains line breaks"))
		}
		if r.MessageExpression != "" && strings.TrimSpace(r.MessageExpression) == "" {
			d.add(validation.Required(at.Child("messageExpression"), "messageExpression must be non-empty if specified"))
		}
		if r.Reason != nil && !slices.Contains(ruleReasons, *r.Reason) {
			d.add(validation.NotSupported(at.Child("reason"), validation.NamedString(*r.Reason), ruleReasons))
		}
		if r.FieldPath == "" {
			continue
		}
		invalid := func(detail string) {
			d.add(validation.Invalid(at.Child("fieldPath"), r.FieldPath, detail).Before(behavior.PlainDetails, validation.Detail("fieldPath "+detail)))
		}
		if strings.TrimSpace(r.FieldPath) == "" {
			invalid("must be non-empty if specified")
		}
		if hasLineBreak(r.FieldPath) {
			invalid("must not contain line breaks")
		}
		if s, err := FromProps(p); err == nil {
			if _, _, err := s.Descend(r.FieldPath, true); err != nil {
				invalid("must be a valid path")
			}
		}
	}
	return len(rules) > 0
}

func hasLineBreak(s string) bool { return strings.ContainsAny(s, "\n\r") }

// UnrecognizedFormats returns the formats in an openAPIV3Schema that are ignored because
// they are not defined for the type, with duplicates.
func UnrecognizedFormats(props map[string]any) []string {
	var formats []string
	p := keywords(props)
	if format := p.text("format"); format != "" {
		if s := (&Schema{Type: p.text("type"), Format: format}); s.recognizedFormat() == "" {
			formats = append(formats, format)
		}
	}
	if p.isLeaf() {
		return formats
	}
	add := func(v any) { formats = append(formats, UnrecognizedFormats(keywordsOf(v))...) }
	add(p["items"])
	for _, junctor := range []string{"allOf", "anyOf", "oneOf"} {
		for _, v := range p.list(junctor) {
			add(v)
		}
	}
	add(p["not"])
	inProperties := map[string][]string{} // by name
	for name, property := range keywordsOf(p["properties"]) {
		if found := UnrecognizedFormats(keywordsOf(property)); len(found) > 0 {
			inProperties[name] = found
		}
	}
	for _, name := range slices.Sorted(maps.Keys(inProperties)) {
		formats = append(formats, inProperties[name]...)
	}
	add(p["additionalProperties"])
	return formats
}

// isLeaf reports whether the schema has no subschemas with formats.
func (p keywords) isLeaf() bool {
	for keyword := range p {
		switch keyword {
		case "items", "allOf", "anyOf", "oneOf", "not", "properties", "additionalProperties":
			return false
		}
	}
	return true
}
