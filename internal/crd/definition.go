package crd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/coverage"
	"github.com/kubefake/kubefake/internal/discovery"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/webhook"
)

// A Definition has the resource types of a CustomResourceDefinition. It is immutable.
type Definition struct {
	// Types are the types of the served versions. There are none until the names are
	// accepted.
	Types []*resource.Type

	// Prefix is the prefix of the store keys of the custom resources.
	Prefix string

	spec        object.View
	names       object.View // status.acceptedNames
	since       int64
	served      bool // whether requests are served
	terminating bool
	validators  []*cel.Validator // of the rules of the versions
}

// CountRules adds the rules to the profile that counts their results, if there is one.
func (d *Definition) CountRules() {
	for _, v := range d.validators {
		v.Count()
	}
}

// Options are the options of New.
type Options struct {
	// Webhooks calls conversion webhooks. UID returns the UID of a ConversionReview.
	Webhooks *webhook.Client
	UID      func() string
	// Since is the revision at which the definition was created.
	Since int64
	// Rules are those of the release.
	Rules Rules
	// Coverage says whether the results of rules are counted. It may be nil.
	Coverage *coverage.Switch
}

// New returns the Definition of a CustomResourceDefinition in canonical form. old is the previous
// Definition of the object, or nil; New returns it or shares its types if nothing relevant changed.
func New(obj object.View, old *Definition, o Options) *Definition {
	d := &Definition{
		spec:        obj.At("spec"),
		names:       obj.At("status", "acceptedNames"),
		since:       o.Since,
		served:      hasCondition(obj, established) || hasCondition(obj, namesAccepted),
		terminating: hasCondition(obj, terminating),
	}
	d.Prefix = "/" + d.spec.String("names", "plural") + "." + d.spec.String("group") + "/"
	unchanged := old != nil && old.since == d.since && old.served == d.served && old.spec.Equal(d.spec) && old.names.Equal(d.names)
	switch {
	case unchanged && old.terminating == d.terminating:
		return old
	case unchanged && d.terminating:
		d.Types, d.validators = old.terminatingTypes(), old.validators
	case d.served && hasAllNames(d.names):
		d.Types = d.types(o)
		if d.terminating {
			d.Types = d.terminatingTypes()
		}
	}
	return d
}

// hasAllNames reports whether all required names are set.
func hasAllNames(names object.View) bool {
	for _, name := range []string{"plural", "singular", "kind", "listKind"} {
		if names.String(name) == "" {
			return false
		}
	}
	return true
}

func hasCondition(obj object.View, typ string) bool {
	return !obj.Condition(typ, "True").IsNil()
}

// A version is one of the versions of a definition.
type version struct {
	*Definition
	name   string
	spec   object.View
	schema *schema.Schema
	rules  *cel.Validator
	typ    *resource.Type
	codec  *customCodec

	release Rules
}

// types creates the types of all versions and returns those that are served, the preferred
// version first.
func (d *Definition) types(o Options) []*resource.Type {
	group, storage, storageServed := d.spec.String("group"), "", false
	var versions []*version
	var all []*resource.Type
	for spec := range d.spec.At("versions").Objects() {
		v := &version{Definition: d, name: spec.String("name"), spec: spec, typ: &resource.Type{}, release: o.Rules}
		if spec.Bool("storage") {
			storage, storageServed = v.name, spec.Bool("served")
		}
		versions, all = append(versions, v), append(all, v.typ)
	}
	convert := d.converter(o, all)
	schemas := make(map[string]*schema.Schema, len(versions))
	var served []*resource.Type
	for i, v := range versions {
		if props := v.props(); props != nil {
			s, err := validated.take(props)
			if err != nil {
				return nil // only objects that were written without validation are invalid; they are not served
			}
			v.schema, schemas[v.name] = s, s
			v.rules = cel.NewValidator(s).With(o.Rules.evaluation).Counted(&cel.CountedSchema{
				Switch: o.Coverage, Kind: "CustomResourceDefinition", Name: strings.Trim(d.Prefix, "/"), Version: v.name,
				Path: fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", i),
			})
			d.validators = append(d.validators, v.rules)
		}
		*v.typ = resource.Type{
			GroupVersion: resource.GroupVersion{Group: group, Version: v.name},
			Name:         d.names.String("plural"),
			Singular:     d.names.String("singular"),
			Kind:         d.names.String("kind"),
			ListKind:     d.names.String("listKind"),
			ShortNames:   d.names.Strings("shortNames"),
			Categories:   d.names.Strings("categories"),
			Namespaced:   d.spec.String("scope") == "Namespaced",
			Verbs:        verbs,
			Subresources: v.subresources(),
			Stored:       resource.GroupVersion{Group: group, Version: storage},
			Prefix:       d.Prefix,
			Versions:     all,
			Warnings:     v.warnings(versions),
			EtcdFolder:   group + "/" + d.names.String("plural"),
			Since:        d.since,

			UnservedStored:       !storageServed,
			HasConversionWebhook: d.hasConversionWebhook(),
		}
		v.codec = &customCodec{kind: resource.Kind{GroupVersion: v.typ.GroupVersion, Kind: v.typ.Kind}, props: v.props(), schema: v.schema, versions: schemas, keepUnknown: v.keepsUnknown(), stored: v.name == storage, release: v.release.release}
		v.typ.Codec = v.codec
		v.typ.Convert, v.typ.Prune, v.typ.UnknownVersion = convert(v), v.prune, unknownVersion
		v.typ.WithoutUnknown = v.withoutUnknown
		v.typ.Layout = v.layout()
		v.typ.Strategy = v.strategy()
		if v.spec.Bool("served") {
			served = append(served, v.typ)
		}
	}
	slices.SortFunc(served, func(a, b *resource.Type) int {
		return discovery.CompareVersions(a.GroupVersion.Version, b.GroupVersion.Version)
	})
	return served
}

// Verbs are in the order of discovery.
var (
	verbs            = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	subresourceVerbs = []string{"get", "patch", "update"}
)

// terminatingTypes returns the types of a definition that is being deleted: creating
// objects fails, and discovery has no verbs that write.
func (d *Definition) terminatingTypes() []*resource.Type {
	types := make([]*resource.Type, len(d.Types))
	for i, t := range d.Types {
		t, s := *t, *t.Strategy
		t.Verbs = []string{"delete", "deletecollection", "get", "list", "watch"}
		s.CreateForbidden = "create not allowed while custom resource definition is terminating"
		t.Strategy = &s
		types[i] = &t
	}
	return types
}

var scaleKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "autoscaling", Version: "v1"}, Kind: "Scale"}

// subresources returns the subresources in the order of discovery.
func (v *version) subresources() []resource.Subresource {
	var out []resource.Subresource
	if v.hasStatus() {
		kind := resource.Kind{GroupVersion: resource.GroupVersion{Group: v.Definition.spec.String("group"), Version: v.name}, Kind: v.names.String("kind")}
		out = append(out, resource.Subresource{Name: "status", Kind: kind, Verbs: subresourceVerbs})
	}
	if !v.spec.IsNil("subresources", "scale") {
		out = append(out, resource.Subresource{Name: "scale", Kind: scaleKind, Verbs: subresourceVerbs})
	}
	return out
}

// keepsUnknown reports whether objects keep fields that the schema does not have.
func (v *version) keepsUnknown() bool { return v.Definition.spec.Bool("preserveUnknownFields") }

func (v *version) hasStatus() bool { return !v.spec.IsNil("subresources", "status") }

// props returns the openAPIV3Schema, nil if there is none.
func (v *version) props() map[string]any {
	return v.spec.At("schema", "openAPIV3Schema").SharedMembers()
}

// warnings returns the warnings of requests for a deprecated version.
func (v *version) warnings(all []*version) []string {
	if !v.spec.Bool("deprecated") {
		return nil
	}
	if !v.spec.IsNil("deprecationWarning") {
		return []string{v.spec.String("deprecationWarning")}
	}
	group, kind := v.Definition.spec.String("group"), v.Definition.spec.String("names", "kind")
	text := fmt.Sprintf("%s/%s %s is deprecated", group, v.name, kind)
	newer := slices.DeleteFunc(slices.Clone(all), func(other *version) bool {
		return !other.spec.Bool("served") || other.spec.Bool("deprecated") || discovery.CompareVersions(other.name, v.name) >= 0
	})
	if len(newer) > 0 {
		use := slices.MinFunc(newer, func(a, b *version) int { return discovery.CompareVersions(a.name, b.name) })
		text += fmt.Sprintf("; use %s/%s %s", group, use.name, kind)
	}
	return []string{text}
}
