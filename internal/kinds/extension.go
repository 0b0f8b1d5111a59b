package kinds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
)

// defaultDefinition completes the definition of custom resources.
func defaultDefinition(obj map[string]any) {
	spec := child(obj, "spec")
	names := child(spec, "names")
	if kind := object.String(names, "kind"); kind != "" {
		fillZero(names, "singular", strings.ToLower(kind))
		fillZero(names, "listKind", kind+"List")
	}
	if spec["conversion"] == nil {
		spec["conversion"] = map[string]any{"strategy": "None"}
	}
	if webhook := object.Map(spec, "conversion", "webhook"); webhook["clientConfig"] == nil && len(object.List(webhook, "conversionReviewVersions")) == 0 {
		delete(object.Map(spec, "conversion"), "webhook")
	}
	defaultServiceReference(object.Map(spec, "conversion", "webhook", "clientConfig", "service"))
	if status := object.Map(obj, "status"); status != nil && len(object.List(status, "storedVersions")) == 0 {
		addStorageVersion(status, spec)
	}
}

// warnDefinition tells of formats in schemas that mean nothing, but not of those
// that the old definition has.
func warnDefinition(obj, old map[string]any) []string {
	known := unrecognizedFormats(old)
	var warnings []string
	for _, format := range unrecognizedFormats(obj) {
		if !slices.Contains(known, format) {
			known = append(known, format)
			warnings = append(warnings, fmt.Sprintf("unrecognized format %q", format))
		}
	}
	return warnings
}

func unrecognizedFormats(definition map[string]any) []string {
	var formats []string
	for version := range object.Each(object.Value(definition, "spec", "versions")) {
		formats = append(formats, schema.UnrecognizedFormats(object.Map(version, "schema", "openAPIV3Schema"))...)
	}
	return formats
}

// prepareDefinition notes the version in which objects are stored from now on.
func prepareDefinition(obj, old map[string]any) {
	status := object.Copy(child(obj, "status"))
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

func defaultAPIService(obj map[string]any) {
	defaultServiceReference(object.Map(obj, "spec", "service"))
}

// prepareAPIService finds a new API that the server serves itself available.
func prepareAPIService(obj, old map[string]any) {
	if old != nil || object.Value(obj, "spec", "service") != nil {
		return
	}
	obj["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": "Available", "status": "True", "reason": "Local",
		"message":            "Local APIServices are always available",
		"lastTransitionTime": object.Value(obj, "metadata", "creationTimestamp"),
	}}}
}
