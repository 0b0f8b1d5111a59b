package crd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

var (
	specPath   = validation.NewPath("spec")
	statusPath = validation.NewPath("status")
)

// Validate validates a definition. old is nil for a creation. It returns early when
// ctx ends.
func Validate(ctx context.Context, obj, old map[string]any) validation.List {
	var errs validation.List
	if name := object.String(obj, "metadata", "name"); old == nil && name != "" {
		rule := validation.DefinitionName(object.String(obj, "spec", "names", "plural"), object.String(obj, "spec", "group"))
		errs = validation.Each(metadataPath.Child("name"), name, rule(name, false))
	}
	spec := internalSpec(object.Map(obj, "spec"))
	c := &specValidator{ctx: ctx, spec: spec, old: old}
	errs = append(errs, c.all(specPath)...)
	if old != nil {
		errs = append(errs, immutable(spec, old)...)
	}
	errs = append(errs, ValidateStatus(obj, old)...)
	errs = append(errs, storedVersions(obj)...)
	errs = append(errs, validateApproval(obj, old)...)
	if object.Bool(spec, "preserveUnknownFields") && !object.Bool(old, "spec", "preserveUnknownFields") {
		errs = append(errs, validation.Invalid(specPath.Child("preserveUnknownFields"), true, "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"))
	}
	return errs
}

// ValidateStatus validates the status of a definition.
func ValidateStatus(obj, _ map[string]any) validation.List {
	return names(object.Map(obj, "status", "acceptedNames"), statusPath.Child("acceptedNames"))
}

// immutable checks that immutable fields are not changed.
func immutable(spec, old map[string]any) validation.List {
	was := object.Map(old, "spec")
	var errs validation.List
	same := func(names ...string) {
		path := validation.NewPath("spec", names...)
		errs = append(errs, validation.ImmutableField(object.Value(spec, names...), object.Value(was, names...), path)...)
	}
	if hasCondition(old, established) {
		same("scope")
		same("names", "kind")
	}
	same("group")
	same("names", "plural")
	return errs
}

// A specValidator validates the spec of a definition in the internal version.
type specValidator struct {
	ctx       context.Context
	spec, old map[string]any
}

func (c *specValidator) all(path *validation.Path) validation.List {
	var errs validation.List
	group := object.String(c.spec, "group")
	switch problems := validation.DNS1123Subdomain(group); {
	case group == "":
		errs = append(errs, validation.Required(path.Child("group"), ""))
	case len(problems) > 0:
		errs = append(errs, validation.Invalid(path.Child("group"), group, strings.Join(problems, ",")))
	case !strings.Contains(group, "."):
		errs = append(errs, validation.Invalid(path.Child("group"), group, "should be a domain with at least one dot"))
	}
	errs = append(errs, enum(object.String(c.spec, "scope"), []string{"Cluster", "Namespaced"}, path.Child("scope"))...)
	errs = append(errs, c.requireSchemas(path.Child("versions"))...)
	if object.Bool(c.spec, "preserveUnknownFields") && c.hasDefaults() {
		errs = append(errs, validation.Invalid(path.Child("preserveUnknownFields"), true, "must be false in order to use defaults in the schema"))
	}
	errs = append(errs, c.versions(path.Child("versions"))...)
	if version := object.String(c.spec, "version"); version != "" {
		errs = append(errs, label(version, path.Child("version"))...)
	}
	wanted := object.Map(c.spec, "names")
	for _, name := range []string{"plural", "singular", "kind", "listKind"} {
		if object.String(wanted, name) == "" {
			errs = append(errs, validation.Required(path.Child("names").Child(name), ""))
		}
	}
	errs = append(errs, names(wanted, path.Child("names"))...)
	errs = append(errs, c.schema(c.spec, "validation", c.anyStatus(), path)...)
	errs = append(errs, subresources(object.Map(c.spec, "subresources"), path.Child("subresources"))...)
	errs = append(errs, columns(c.spec, path)...)
	if fields := object.List(c.spec, "selectableFields"); len(fields) > 0 {
		if props := object.Map(c.spec, "validation", "openAPIV3Schema"); props == nil {
			errs = append(errs, validation.Invalid(path.Child("selectableFields"), "", "may only be set when validations.schema is included"))
		} else {
			errs = append(errs, selectableFields(fields, props, path)...)
		}
	}
	return append(errs, c.conversion(path.Child("conversion"))...)
}

// requireSchemas checks that every version has a schema.
func (c *specValidator) requireSchemas(path *validation.Path) validation.List {
	if object.Map(c.spec, "validation", "openAPIV3Schema") != nil {
		return nil
	}
	var errs validation.List
	for i, v := range object.List(c.spec, "versions") {
		v, _ := v.(map[string]any)
		if object.Map(v, "schema", "openAPIV3Schema") == nil {
			errs = append(errs, validation.Required(path.Index(i).Child("schema").Child("openAPIV3Schema"), ""))
		}
	}
	return errs
}

// hasDefaults reports whether a schema has a default.
func (c *specValidator) hasDefaults() bool {
	if schema.HasDefaults(object.Map(c.spec, "validation", "openAPIV3Schema")) {
		return true
	}
	for v := range object.Each(c.spec["versions"]) {
		if schema.HasDefaults(object.Map(v, "schema", "openAPIV3Schema")) {
			return true
		}
	}
	return false
}

// versions validates the versions.
func (c *specValidator) versions(path *validation.Path) validation.List {
	var errs validation.List
	versions := object.List(c.spec, "versions")
	stored, unique, seen := 0, true, map[string]bool{}
	for i, v := range versions {
		v, _ := v.(map[string]any)
		name := object.String(v, "name")
		if v["storage"] == true {
			stored++
		}
		unique = unique && !seen[name]
		seen[name] = true
		errs = append(errs, label(name, path.Index(i).Child("name"))...)
		errs = append(errs, c.version(v, path.Index(i))...)
	}
	all := unversioned.Value{Type: "[]apiextensions.CustomResourceDefinitionVersion", Value: c.spec["versions"]}
	if !unique {
		errs = append(errs, validation.Invalid(path, all, "must contain unique version names"))
	}
	if stored != 1 {
		errs = append(errs, validation.Invalid(path, all, "must have exactly one version marked as storage version"))
	}
	return errs
}

func (c *specValidator) version(v map[string]any, path *validation.Path) validation.List {
	var errs validation.List
	if warning, ok := v["deprecationWarning"].(string); ok {
		errs = append(errs, validation.Each(path.Child("deprecationWarning"), &warning, deprecationWarning(v["deprecated"] == true, warning))...)
	}
	errs = append(errs, c.schema(v, "schema", c.status(v), path)...)
	errs = append(errs, subresources(object.Map(v, "subresources"), path.Child("subresources"))...)
	errs = append(errs, columns(v, path)...)
	if fields := object.List(v, "selectableFields"); len(fields) > 0 {
		if props := object.Map(v, "schema", "openAPIV3Schema"); props == nil {
			errs = append(errs, validation.Invalid(path.Child("selectableFields"), "", "may only be set when `version.schema.openAPIV3Schema` is not included"))
		} else {
			errs = append(errs, selectableFields(fields, props, path)...)
		}
	}
	return errs
}

// status reports whether a version has the status subresource.
func (c *specValidator) status(v map[string]any) bool {
	return object.Map(v, "subresources", "status") != nil || object.Map(c.spec, "subresources", "status") != nil
}

func (c *specValidator) anyStatus() bool {
	for v := range object.Each(c.spec["versions"]) {
		if c.status(v) {
			return true
		}
	}
	return false
}

// schema validates the schema in a field of a version or, if all versions have the same, of
// the spec.
func (c *specValidator) schema(of map[string]any, field string, status bool, path *validation.Path) validation.List {
	props := object.Map(of, field, "openAPIV3Schema")
	if props == nil {
		return nil
	}
	return schema.DefinitionCheck{Status: status, Rules: cel.RuleChecker{Unchanged: c.unchanged(of, props), Context: c.ctx}}.Check(props, path.Child(field).Child("openAPIV3Schema"))
}

// unchanged reports whether the old definition has the same schema for the version. of is a
// version, or the spec if all versions have the same schema.
func (c *specValidator) unchanged(of, props map[string]any) bool {
	name := object.String(of, "name")
	if name == "" {
		name = object.String(of, "version")
	}
	for v := range object.Each(object.Value(c.old, "spec", "versions")) {
		if object.String(v, "name") == name {
			return validation.Equal(object.Value(v, "schema", "openAPIV3Schema"), props)
		}
	}
	return false
}

// deprecationWarning returns the errors of the deprecation warning of a version.
func deprecationWarning(deprecated bool, text string) []string {
	if !deprecated {
		return []string{"can only be set for deprecated versions"}
	}
	var problems []string
	if len(text) > 256 {
		problems = append(problems, "must be <= 256 characters long")
	}
	if text == "" {
		problems = append(problems, "must not be an empty string")
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		problems = append(problems, fmt.Sprintf("must only contain printable UTF-8 characters; non-printable character found at index %d", i))
	}
	if !utf8.ValidString(text) {
		problems = append(problems, "must only contain printable UTF-8 characters")
	}
	return problems
}

// enum checks that a value is supported.
func enum(value string, known []string, path *validation.Path) validation.List {
	switch {
	case value == "":
		return validation.List{validation.Required(path, "")}
	case !slices.Contains(known, value):
		return validation.List{validation.NotSupported(path, value, known)}
	}
	return nil
}

// label checks that a name is a DNS label. It returns at most one error.
func label(name string, path *validation.Path) validation.List {
	return validateLabel(name, name, "", path)
}

func validateLabel(name, lower, prefix string, path *validation.Path) validation.List {
	problems := validation.DNS1035Label(lower)
	if len(problems) == 0 {
		return nil
	}
	return validation.List{validation.Invalid(path, name, prefix+strings.Join(problems, ","))}
}

// names validates the names of a definition that are set.
func names(n map[string]any, path *validation.Path) validation.List {
	var errs validation.List
	for _, name := range []string{"plural", "singular"} {
		if text := object.String(n, name); text != "" {
			errs = append(errs, label(text, path.Child(name))...)
		}
	}
	for _, name := range []string{"kind", "listKind"} {
		if text := object.String(n, name); text != "" {
			errs = append(errs, validateLabel(text, strings.ToLower(text), "may have mixed case, but should otherwise match: ", path.Child(name))...)
		}
	}
	errs = append(errs, labels(n, "shortNames", path)...)
	if kind := object.String(n, "kind"); kind != "" && kind == object.String(n, "listKind") {
		errs = append(errs, validation.Invalid(path.Child("listKind"), kind, "kind and listKind may not be the same"))
	}
	return append(errs, labels(n, "categories", path)...)
}

func labels(n map[string]any, field string, path *validation.Path) validation.List {
	var errs validation.List
	for i, v := range object.List(n, field) {
		text, _ := v.(string)
		errs = append(errs, label(text, path.Child(field).Index(i))...)
	}
	return errs
}

// subresources validates the paths of the scale subresource.
func subresources(s map[string]any, path *validation.Path) validation.List {
	scale := object.Map(s, "scale")
	if scale == nil {
		return nil
	}
	errs := replicasPath(scale, "specReplicasPath", []string{".spec."}, "should be a json path under .spec", path)
	errs = append(errs, replicasPath(scale, "statusReplicasPath", []string{".status."}, "should be a json path under .status", path)...)
	if object.String(scale, "labelSelectorPath") != "" {
		errs = append(errs, replicasPath(scale, "labelSelectorPath", []string{".spec.", ".status."}, "should be a json path under either .spec or .status", path)...)
	}
	return errs
}

// replicasPath validates a path that must have one of the prefixes.
func replicasPath(scale map[string]any, field string, under []string, elsewhere string, path *validation.Path) validation.List {
	text, at := object.String(scale, field), path.Child("scale").Child(field)
	if text == "" {
		return validation.List{validation.Required(at, "")}
	}
	if errs := simplePath(text, at); len(errs) > 0 {
		return errs
	}
	if !slices.ContainsFunc(under, func(prefix string) bool { return strings.HasPrefix(text, prefix) }) {
		return validation.List{validation.Invalid(at, text, elsewhere)}
	}
	return nil
}

// simplePath checks that a path starts with a dot.
func simplePath(text string, path *validation.Path) validation.List {
	if text[0] == '.' {
		return nil
	}
	return validation.List{validation.Invalid(path, text, "must be a simple json path starting with .")}
}

var (
	columnTypes   = []string{"boolean", "date", "integer", "number", "string"}
	columnFormats = []string{"byte", "date", "date-time", "double", "float", "int32", "int64", "password"}
)

// columns validates the printer columns of a version or of the spec.
func columns(of map[string]any, path *validation.Path) validation.List {
	var errs validation.List
	for i, c := range object.List(of, "additionalPrinterColumns") {
		c, _ := c.(map[string]any)
		errs = append(errs, column(c, path.Child("additionalPrinterColumns").Index(i))...)
	}
	return errs
}

func column(c map[string]any, path *validation.Path) validation.List {
	var errs validation.List
	if object.String(c, "name") == "" {
		errs = append(errs, validation.Required(path.Child("name"), ""))
	}
	oneOf := "must be one of " + strings.Join(columnTypes, ",")
	switch typ := object.String(c, "type"); {
	case typ == "":
		errs = append(errs, validation.Required(path.Child("type"), oneOf))
	case !slices.Contains(columnTypes, typ):
		errs = append(errs, validation.Invalid(path.Child("type"), typ, oneOf))
	}
	if format := object.String(c, "format"); format != "" && !slices.Contains(columnFormats, format) {
		errs = append(errs, validation.Invalid(path.Child("format"), format, "must be one of "+strings.Join(columnFormats, ",")))
	}
	text := object.String(c, "jsonPath")
	if text == "" {
		return append(errs, validation.Required(path.Child("JSONPath"), ""))
	}
	return append(errs, simplePath(text, path.Child("JSONPath"))...)
}

// maxSelectableFields is the maximal number of selectable fields of a version.
const maxSelectableFields = 8

// selectableFields checks that the paths of selectable fields are those of scalars.
func selectableFields(fields []any, props map[string]any, path *validation.Path) validation.List {
	var errs validation.List
	s, err := schema.FromProps(props)
	if err != nil {
		errs = append(errs, validation.Invalid(path.Child("schema").Child("openAPIV3Schema"), "", err.Error()))
	}
	path = path.Child("selectableFields")
	seen := map[string]bool{}
	for i, f := range fields {
		f, _ := f.(map[string]any)
		text, at := object.String(f, "jsonPath"), path.Index(i).Child("jsonPath")
		if text == "" {
			errs = append(errs, validation.Required(at, ""))
			continue
		}
		field, found, err := s.Descend(text, false)
		if err != nil {
			errs = append(errs, validation.Invalid(at, text, fmt.Sprintf("is an invalid path: %v", err)))
			continue
		}
		if root, _, _ := strings.Cut(field.String(), "."); root == "metadata" {
			errs = append(errs, validation.Invalid(at, text, "must not point to fields in metadata"))
		}
		if found == nil || !slices.Contains([]string{"string", "boolean", "integer"}, found.Type) {
			errs = append(errs, validation.Invalid(at, text, "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."))
		}
		if seen[field.String()] {
			errs = append(errs, validation.Duplicate(at, text))
		}
		seen[field.String()] = true
	}
	if len(seen) > maxSelectableFields {
		errs = append(errs, validation.TooMany(path, len(seen), maxSelectableFields))
	}
	return errs
}

// conversion validates spec.conversion.
func (c *specValidator) conversion(path *validation.Path) validation.List {
	conversion := object.Map(c.spec, "conversion")
	if conversion == nil {
		return nil
	}
	strategy := object.String(conversion, "strategy")
	var errs validation.List
	if strategy != "None" && object.Bool(c.spec, "preserveUnknownFields") {
		errs = append(errs, validation.Invalid(path.Child("strategy"), strategy, "must be None if spec.preserveUnknownFields is true"))
	}
	errs = append(errs, enum(strategy, []string{"None", "Webhook"}, path.Child("strategy"))...)
	config, at := object.Map(conversion, "webhookClientConfig"), path.Child("webhookClientConfig")
	reviews := object.List(conversion, "conversionReviewVersions")
	if strategy != "Webhook" {
		const forbidden = "should not be set when strategy is not set to Webhook"
		if config != nil {
			errs = append(errs, validation.Forbidden(at, forbidden))
		}
		if len(reviews) > 0 {
			errs = append(errs, validation.Forbidden(path.Child("conversionReviewVersions"), forbidden))
		}
		return errs
	}
	url, hasURL := config["url"].(string)
	service := object.Map(config, "service")
	switch {
	case config == nil:
		errs = append(errs, validation.Required(at, "required when strategy is set to Webhook"))
	case hasURL == (service != nil):
		errs = append(errs, validation.Required(at, "exactly one of url or service is required"))
	case hasURL:
		errs = append(errs, validation.WebhookURL(url, at.Child("url"))...)
	default:
		errs = append(errs, validation.WebhookService(service, at.Child("service"))...)
	}
	if bundle := object.String(config, "caBundle"); bundle != "" && !isBundle(bundle) && !c.mayHaveInvalidBundle() {
		errs = append(errs, validation.Invalid(at.Child("caBundle"), unversioned.Value{Type: "[]byte", Value: bundle}, "unable to load root certificates: unable to parse bytes as PEM block"))
	}
	return append(errs, c.reviewVersions(reviews, path.Child("conversionReviewVersions"))...)
}

// mayHaveInvalidBundle reports whether caBundle may be invalid: the definition is not
// established, or caBundle was already invalid.
func (c *specValidator) mayHaveInvalidBundle() bool {
	if !hasCondition(c.old, established) {
		return true
	}
	was := object.String(c.old, "spec", "conversion", "webhook", "clientConfig", "caBundle")
	return was != "" && !isBundle(was)
}

// supportedReviewVersions has the supported versions of ConversionReview in order of
// preference.
var supportedReviewVersions = []string{"v1", "v1beta1"}

func (c *specValidator) reviewVersions(versions []any, path *validation.Path) validation.List {
	if len(versions) == 0 {
		return validation.List{validation.Required(path, "")}
	}
	var errs validation.List
	seen, known := map[string]bool{}, false
	for i, v := range versions {
		version, _ := v.(string)
		if seen[version] {
			errs = append(errs, validation.Invalid(path.Index(i), version, "duplicate version"))
			continue
		}
		seen[version] = true
		errs = append(errs, validation.Each(path.Index(i), version, validation.DNS1035Label(version))...)
		known = known || slices.Contains(supportedReviewVersions, version)
	}
	if was := object.Strings(c.old, "spec", "conversion", "webhook", "conversionReviewVersions"); len(was) > 0 && !slices.ContainsFunc(was, func(v string) bool { return slices.Contains(supportedReviewVersions, v) }) {
		return errs // the old definition had no supported version either
	}
	if !known {
		errs = append(errs, validation.Invalid(path, versions, "must include at least one of "+strings.Join(supportedReviewVersions, ", ")))
	}
	return errs
}

// storedVersions checks that the spec has every version in status.storedVersions.
func storedVersions(obj map[string]any) validation.List {
	path := statusPath.Child("storedVersions")
	stored := object.Strings(obj, "status", "storedVersions")
	if len(stored) == 0 {
		return validation.List{validation.Invalid(path, object.Value(obj, "status", "storedVersions"), "must have at least one stored version")}
	}
	var errs validation.List
	missing := slices.Clone(stored) // a name counts once, even if two versions have it
	for v := range object.Each(object.Value(obj, "spec", "versions")) {
		name := object.String(v, "name")
		if v["storage"] == true && !slices.Contains(missing, name) {
			errs = append(errs, validation.Invalid(path, stored, "must have the storage version "+name))
		}
		missing = slices.DeleteFunc(missing, func(v string) bool { return v == name })
	}
	for i, v := range stored {
		if slices.Contains(missing, v) {
			errs = append(errs, validation.Invalid(path.Index(i), v, fmt.Sprintf("missing from spec.versions; %[1]s was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in %[1]s and removes %[1]s from status.storedVersions", v)))
		}
	}
	return errs
}

// validateApproval checks the approval annotation of a definition in a protected group. An
// unchanged invalid state is allowed.
func validateApproval(obj, old map[string]any) validation.List {
	if !isProtectedGroup(object.String(obj, "spec", "group")) {
		return nil
	}
	annotation := object.String(obj, "metadata", "annotations", approvedAnnotation)
	_, state, message := approval(annotation)
	if old != nil {
		if _, was, _ := approval(object.String(old, "metadata", "annotations", approvedAnnotation)); was == state {
			return nil
		}
	}
	path := metadataPath.Child("annotations").Key(approvedAnnotation)
	switch state {
	case "InvalidAnnotation":
		return validation.List{validation.Invalid(path, annotation, message)}
	case "MissingAnnotation":
		return validation.List{validation.Required(path, message)}
	}
	return nil
}
