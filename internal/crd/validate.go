package crd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

var (
	specPath   = validation.NewPath("spec")
	statusPath = validation.NewPath("status")
)

// Rules are what depends on the release in definitions. The zero Rules are those of the
// newest release.
type Rules struct {
	release     validation.Release // nil for the newest one
	minor       int                // of the release
	expressions cel.Version        // of new definitions
	evaluation  cel.Options        // of their rules
	values      schema.Options
	// statusOwnsMetadata makes the manager of a status own its metadata too, though that
	// does not change.
	statusOwnsMetadata bool
}

// RulesOf returns the Rules of a release and its feature gates.
func RulesOf(r validation.Release) Rules {
	minor, ratchets := r.Minor(), r.Enabled("CRDValidationRatcheting")
	return Rules{
		release:            r,
		minor:              minor,
		expressions:        cel.NewExpressions(minor),
		evaluation:         cel.Options{TypesAsValues: !r.Has(behavior.CELErrorValues), WithoutRatcheting: !ratchets},
		values:             schema.Options{FormatsOfStrings: !r.Has(behavior.NumberFormats), WithoutNameFormats: !r.Has(behavior.NameFormats), WithoutRatcheting: !ratchets},
		statusOwnsMetadata: !r.Has(behavior.StatusWithoutMetadata),
	}
}

// Validate validates a definition. old is nothing for a creation. It returns early when
// ctx ends.
func (r Rules) Validate(ctx context.Context, obj map[string]any, old object.View) validation.List {
	var errs validation.List
	if name := object.String(obj, "metadata", "name"); old.IsNil() && name != "" {
		rule := validation.DefinitionName(object.String(obj, "spec", "names", "plural"), object.String(obj, "spec", "group"))
		errs = validation.Each(metadataPath.Child("name"), name, rule(name, false))
	}
	spec := internalSpec(object.Map(obj, "spec"))
	c := &specValidator{ctx: ctx, rules: r, spec: spec, old: old}
	errs = append(errs, c.all(specPath)...)
	if !old.IsNil() {
		errs = append(errs, immutable(spec, old)...)
	}
	errs = append(errs, ValidateStatus(obj, old)...)
	errs = append(errs, storedVersions(obj)...)
	errs = append(errs, validateApproval(obj, old)...)
	if object.Bool(spec, "preserveUnknownFields") && !old.Bool("spec", "preserveUnknownFields") {
		errs = append(errs, validation.Invalid(specPath.Child("preserveUnknownFields"), true, "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"))
	}
	return errs
}

// ValidateStatus validates the status of a definition.
func ValidateStatus(obj map[string]any, _ object.View) validation.List {
	return names(object.Map(obj, "status", "acceptedNames"), statusPath.Child("acceptedNames"))
}

// immutable checks that immutable fields are not changed.
func immutable(spec map[string]any, old object.View) validation.List {
	was := old.At("spec")
	var errs validation.List
	same := func(names ...string) {
		path := validation.NewPath("spec", names...)
		errs = append(errs, validation.ImmutableField(object.Value(spec, names...), was.At(names...).Shared(), path)...)
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
	ctx   context.Context
	rules Rules
	spec  map[string]any
	old   object.View
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
		if c.spec["validation"] == nil {
			errs = append(errs, validation.Invalid(path.Child("selectableFields"), "", "may only be set when validations.schema is included").Before(behavior.PlainDetails, validation.Detail("selectableFields may only be set when validations.schema is included")))
		} else {
			errs = append(errs, selectableFields(fields, object.Map(c.spec, "validation", "openAPIV3Schema"), path)...)
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
			errs = append(errs, validation.Required(path.Index(i).Child("schema").Child("openAPIV3Schema"), "").Before(behavior.PlainDetails, validation.Detail("schemas are required")))
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
			errs = append(errs, validation.Invalid(path.Index(i), v, fmt.Sprintf("missing from spec.versions; %[1]s was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in %[1]s and removes %[1]s from status.storedVersions", v)).Before(behavior.StoredVersionTexts, validation.Detail("must appear in spec.versions")))
		}
	}
	return errs
}

// validateApproval checks the approval annotation of a definition in a protected group. An
// unchanged invalid state is allowed.
func validateApproval(obj map[string]any, old object.View) validation.List {
	if !isProtectedGroup(object.String(obj, "spec", "group")) {
		return nil
	}
	annotation := object.String(obj, "metadata", "annotations", approvedAnnotation)
	_, state, message := approval(annotation)
	if !old.IsNil() {
		if _, was, _ := approval(old.String("metadata", "annotations", approvedAnnotation)); was == state {
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
