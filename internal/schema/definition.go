package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

// A DefinitionCheck is how the schemas of a CustomResourceDefinition are checked.
type DefinitionCheck struct {
	// Status is whether the version has the status subresource.
	Status bool
	// Rules checks x-kubernetes-validations; nil passes over them.
	Rules RuleChecker
}

// A RuleChecker checks the rules in a definition's schema.
type RuleChecker interface {
	// CheckRules compiles the rules of the sites, which are given from the inside
	// out. The path is that of the whole schema.
	CheckRules(sites []RuleSite, path *validation.Path) validation.List

	// CheckDefault judges a default by the rules of its schema and of those
	// within. whole is whether the schema is the root of what rules can see: that
	// of the resource or of an embedded one. The path is the default's.
	CheckDefault(s *Schema, whole bool, value any, path *validation.Path) validation.List
}

// A RuleSite is a schema with rules.
type RuleSite struct {
	Schema *Schema
	// Path leads to the schema.
	Path *validation.Path
	// Whole is whether the schema is that of an API object: the resource or an
	// embedded one.
	Whole bool
	// Cardinality is how many values of the schema an object can have at most;
	// nil is no limit.
	Cardinality *uint64
	// Uncorrelatable is the path of the outermost schema whose parts have no old
	// values that correspond to them, nil if the site's has one. Rules below it
	// cannot use oldSelf.
	Uncorrelatable *validation.Path
}

// Check returns what is wrong with an openAPIV3Schema in canonical form, whose
// path ends with that name. What is wrong with rules comes last.
//
// Differs from kube-apiserver: that lets a definition keep what an older release
// admitted. There is none here.
func (o DefinitionCheck) Check(props map[string]any, path *validation.Path) validation.List {
	p := keywords(props)
	var list validation.List
	if o.Status {
		list = append(list, p.rootWithStatus(path)...)
	}
	if p.flag("nullable") {
		list = append(list, validation.Forbidden(path.Child("nullable"), "nullable cannot be true at the root"))
	}
	s, unsupported := FromProps(props)
	sound := false
	if unsupported == nil {
		wrong := Structural(props, path)
		if len(wrong) == 0 {
			wrong = defaultCheck{o.Rules}.resource(s, path)
		}
		sound = len(wrong) == 0
		list = append(list, wrong...)
	}
	d := checker{}
	d.schema(p, s, site{path: path, root: true, cardinality: new(uint64(1))})
	list = append(list, d.list...)
	if unsupported != nil && len(list) == 0 {
		list = append(list, validation.Invalid(path, "", unsupported.Error()))
	}
	if sound && o.Rules != nil && len(d.rules) > 0 {
		list = append(list, o.Rules.CheckRules(d.rules, path)...)
	}
	return list
}

// A checker collects what is wrong with schemas, and the sites of rules with
// which nothing is.
type checker struct {
	list  validation.List
	rules []RuleSite
}

// A site is where a schema stands.
type site struct {
	path *validation.Path
	root bool
	// inMeta is whether the schema is of a part of apiVersion, kind or metadata.
	inMeta bool
	// noDefaults says why there may be no defaults, "" that there may.
	noDefaults     string
	cardinality    *uint64
	uncorrelatable *validation.Path
}

func (d *checker) add(e *validation.Error) { d.list = append(d.list, e) }

// schema checks a schema and those within it. s is what FromProps makes of p,
// nil where that fails and for a schema that describes no values by itself.
func (d *checker) schema(p keywords, s *Schema, at site) {
	before := len(d.list)
	d.keywords(p, at)
	d.parts(p, s, at)
	d.structure(p, at.path)
	if d.ruleTexts(p, at.path) && s != nil && len(d.list) == before {
		d.rules = append(d.rules, RuleSite{
			Schema:         s,
			Path:           at.path,
			Whole:          at.root || s.EmbeddedResource,
			Cardinality:    at.cardinality,
			Uncorrelatable: at.uncorrelatable,
		})
	}
}

// keywords checks those that are forbidden or take one of few values.
func (d *checker) keywords(p keywords, at site) {
	forbidden := func(keyword, detail string) { d.add(validation.Forbidden(at.path.Child(keyword), detail)) }
	typ := p.text("type")
	if typ != "" && !slices.Contains(types, typ) {
		d.add(validation.NotSupported(at.path.Child("type"), typ, types))
	}
	if p["default"] != nil && at.noDefaults != "" {
		forbidden("default", "must not be set "+at.noDefaults)
	}
	for _, keyword := range []string{"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"} {
		if p.has(keyword) || keyword == "$ref" && p[keyword] != nil {
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

// types are the types there are.
var types = []string{"array", "boolean", "integer", "number", "object", "string"}

// parts checks the schemas within a schema.
func (d *checker) parts(p keywords, s *Schema, at site) {
	root := at.root
	at.root = false
	below := at
	below.cardinality = elements(p, at.cardinality)
	if additional, ok := p["additionalProperties"].(map[string]any); ok {
		sub := below
		sub.path = at.path.Child("additionalProperties")
		if at.inMeta {
			sub.noDefaults = "inside additionalProperties applying to object metadata"
		}
		d.schema(additional, part(s, func() *Schema { return s.Additional }), sub)
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
		d.schema(items, part(s, func() *Schema { return s.Items }), below)
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

// properties checks the schemas of properties. root is whether they are the
// resource's, at is their site but with the path of the schema they are in.
func (d *checker) properties(p keywords, s *Schema, root bool, at site) {
	properties := keywordsOf(p["properties"])
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		sub := at
		sub.path = at.path.Child("properties").Key(name)
		if isMeta(name) && (root || p.flag("x-kubernetes-embedded-resource")) {
			sub.inMeta = true
			if root {
				sub.noDefaults = "in top-level " + name
			}
		}
		d.schema(keywordsOf(properties[name]), part(s, func() *Schema { return s.Properties[name] }), sub)
	}
}

// part is a part of a schema that there may be none of.
func part(s *Schema, of func() *Schema) *Schema {
	if s == nil {
		return nil
	}
	return of()
}

// nested checks a schema that describes no values by itself, if there is one.
func (d *checker) nested(v any, at site, path *validation.Path) {
	if p, ok := v.(map[string]any); ok {
		at.path = path
		d.schema(p, nil, at)
	}
}

// elements is how many values there can be at most in as many objects or arrays
// of a schema as cardinality says.
func elements(p keywords, cardinality *uint64) *uint64 {
	var limit *int64
	switch {
	case p.text("type") == "array":
		limit = p.integer("maxItems")
	case p.text("type") == "object" && p["additionalProperties"] != nil:
		limit = p.integer("maxProperties")
	default:
		return cardinality
	}
	if cardinality == nil || limit == nil {
		return nil
	}
	return new(saturatingProduct(*cardinality, uint64(max(*limit, 0))))
}

func saturatingProduct(a, b uint64) uint64 {
	if a != 0 && b > ^uint64(0)/a {
		return ^uint64(0)
	}
	return a * b
}

// structure checks the keywords about maps and lists.
func (d *checker) structure(p keywords, path *validation.Path) {
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
	d.associative(p, path.Child("items"))
}

// setItems checks that the elements of a set are atomic.
func (d *checker) setItems(items keywords, path *validation.Path) {
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

// mapList checks the keys of a map list.
func (d *checker) mapList(p keywords, path *validation.Path) {
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

// associative checks that the elements of sets and map lists are there to be told
// apart, and so are the keys of the latter. The path is that of the items.
func (d *checker) associative(p keywords, path *validation.Path) {
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

// ruleReasons are the reasons that a rule can give.
var ruleReasons = []string{"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"}

// ruleTexts checks what can be said of rules without compiling them, and reports
// whether there are any.
func (d *checker) ruleTexts(p keywords, path *validation.Path) bool {
	rules := p.rules()
	for i, r := range rules {
		at := path.Child("x-kubernetes-validations").Index(i)
		rule, message := strings.TrimSpace(r.Rule), strings.TrimSpace(r.Message)
		switch {
		case rule == "":
			d.add(validation.Required(at.Child("rule"), "rule is not specified"))
		case r.Message != "" && message == "":
			d.add(validation.Invalid(at.Child("message"), r.Message, "must be non-empty if specified"))
		case hasLineBreak(message):
			d.add(validation.Invalid(at.Child("message"), r.Message, "must not contain line breaks"))
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
		invalid := func(detail string) { d.add(validation.Invalid(at.Child("fieldPath"), r.FieldPath, detail)) }
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

// UnrecognizedFormats lists the formats in an openAPIV3Schema that mean nothing
// for the types they are given to, as often as they occur.
func UnrecognizedFormats(props map[string]any) []string {
	if props == nil {
		return nil
	}
	var formats []string
	p := keywords(props)
	s := Schema{Type: p.text("type"), Format: p.text("format")}
	if s.Format != "" && s.checkedFormat() == "" {
		formats = append(formats, s.Format)
	}
	within := func(v any) { formats = append(formats, UnrecognizedFormats(keywordsOf(v))...) }
	within(p["items"])
	for _, junctor := range []string{"allOf", "anyOf", "oneOf"} {
		for _, v := range p.list(junctor) {
			within(v)
		}
	}
	within(p["not"])
	properties := keywordsOf(p["properties"])
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		within(properties[name])
	}
	within(p["additionalProperties"])
	return formats
}
