package apiextensions

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

// defaultDefinition sets the defaults of a CustomResourceDefinition.
func defaultDefinition(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	names := object.EnsureMap(spec, "names")
	if kind := object.String(names, "kind"); kind != "" {
		object.SetDefaultIfZero(names, "singular", strings.ToLower(kind))
		object.SetDefaultIfZero(names, "listKind", kind+"List")
	}
	if spec["conversion"] == nil {
		spec["conversion"] = map[string]any{"strategy": "None"}
	}
	if webhook, ok := object.Value(spec, "conversion", "webhook").(map[string]any); ok && webhook["clientConfig"] == nil && len(object.List(webhook, "conversionReviewVersions")) == 0 {
		delete(object.Map(spec, "conversion"), "webhook")
	}
	kind.DefaultServiceReference(object.Map(spec, "conversion", "webhook", "clientConfig", "service"))
	if status := object.Map(obj, "status"); status != nil && len(object.List(status, "storedVersions")) == 0 {
		addStorageVersion(status, spec)
	}
}

// warnDefinition returns a warning for each format in the schemas that
// kube-apiserver does not know and that the old definition does not have.
func warnDefinition(obj map[string]any, old object.View) []string {
	known := unrecognizedFormats(old)
	warnings := warnSetsOfLists(obj, old)
	for _, format := range unrecognizedFormats(object.ViewOf(obj)) {
		if !slices.Contains(known, format) {
			known = append(known, format)
			warnings = append(warnings, fmt.Sprintf("unrecognized format %q", format))
		}
	}
	return warnings
}

// warnSetsOfLists returns a warning for each type of objects or lists that are elements of a
// set in a schema, which the old definition does not have.
func warnSetsOfLists(obj map[string]any, old object.View) []string {
	texts := func(definition object.View) []string {
		found := map[string]bool{}
		for version := range definition.At("spec", "versions").Objects() {
			addSetsOfLists(version.At("schema", "openAPIV3Schema"), found)
		}
		return slices.Sorted(maps.Keys(found))
	}
	known := texts(old)
	return slices.DeleteFunc(texts(object.ViewOf(obj)), func(text string) bool { return slices.Contains(known, text) })
}

// addSetsOfLists adds the warnings of a schema and of all schemas within.
func addSetsOfLists(v object.View, found map[string]bool) {
	for _, element := range v.Items() {
		addSetsOfLists(element, found)
	}
	if v.String("x-kubernetes-list-type") == "set" {
		if typ := v.String("items", "type"); typ == "object" || typ == "array" {
			found[fmt.Sprintf("x-kubernetes-list-type: set for items of type %q is not supported by server-side apply or CEL validation rules", typ)] = true
		}
	}
	for name, member := range v.Fields() {
		if name != "default" && name != "enum" && name != "example" {
			addSetsOfLists(member, found)
		}
	}
}

func unrecognizedFormats(definition object.View) []string {
	var formats []string
	for version := range definition.At("spec", "versions").Objects() {
		formats = append(formats, schema.UnrecognizedFormats(version.At("schema", "openAPIV3Schema").SharedMembers())...)
	}
	return formats
}

// prepareDefinition adds the storage version to status.storedVersions.
func prepareDefinition(obj map[string]any, old object.View) {
	status := object.Copy(object.EnsureMap(obj, "status"))
	addStorageVersion(status, object.Map(obj, "spec"))
	obj["status"] = status
}

func addStorageVersion(status, spec map[string]any) {
	for version := range object.Each(spec["versions"]) {
		if version["storage"] != true {
			continue
		}
		stored := object.List(status, "storedVersions")
		if !slices.Contains(stored, version["name"]) {
			status["storedVersions"] = append(stored, version["name"])
		}
		return
	}
}

var customResourceDefinitionStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		RepeatsErrors:              true,
		DefinesAPI:                 true,
		Default:                    defaultDefinition,
		Prepare:                    prepareDefinition,
		Name:                       validation.AnyName,
		ValidateContext:            crd.Rules{}.Validate,
		WarningsOnWrite:            warnDefinition,
		MarkTerminating:            crd.Terminate,
		MarkIgnoresPropagation:     true,
	},
	Released: func(r *release.Release, s *resource.Strategy) {
		s.ValidateContext = crd.RulesOf(r).Validate
	},
	GenerationFields: []string{"spec"},
	Status:           kind.Status{Validate: crd.ValidateStatus},
	Cells:            definitionCells,
	CellsSince:       behavior.CRDColumns,
	NullRows:         true,
}
