package crd

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

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
		errs = append(errs, validation.Each(path.Child("deprecationWarning"), validation.NamedString(warning), deprecationWarning(v["deprecated"] == true, warning))...)
	}
	errs = append(errs, c.schema(v, "schema", c.status(v), path)...)
	errs = append(errs, subresources(object.Map(v, "subresources"), path.Child("subresources"))...)
	errs = append(errs, columns(v, path)...)
	if fields := object.List(v, "selectableFields"); len(fields) > 0 {
		if props := object.Map(v, "schema", "openAPIV3Schema"); props == nil {
			errs = append(errs, validation.Invalid(path.Child("selectableFields"), "", "may only be set when `version.schema.openAPIV3Schema` is not included").
				Before(behavior.PlainDetails, validation.Detail("selectableFields may only be set when version.schema.openAPIV3Schema is not included")))
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
	check := schema.DefinitionCheck{Status: status, Rules: cel.RuleChecker{Unchanged: c.unchanged(of, props), Context: c.ctx, Version: c.rules.expressions, Options: c.rules.evaluation}}
	s, errs := check.Check(props, path.Child(field).Child("openAPIV3Schema"))
	if len(errs) == 0 {
		validated.put(props, s)
	}
	return errs
}

// unchanged reports whether the old definition has the same schema for the version. of is a
// version, or the spec if all versions have the same schema.
func (c *specValidator) unchanged(of, props map[string]any) bool {
	name := object.String(of, "name")
	if name == "" {
		name = object.String(of, "version")
	}
	for v := range c.old.At("spec", "versions").Objects() {
		if v.String("name") == name {
			return validation.Equal(v.At("schema", "openAPIV3Schema"), props)
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
