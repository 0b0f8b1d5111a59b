package crd

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// perVersion has the fields of a version that kube-apiserver's internal version has as
// fields of the spec if they are equal in all versions, and the names of the latter. Error
// messages have these names.
var perVersion = []struct{ versionField, specField string }{
	{"schema", "validation"},
	{"subresources", "subresources"},
	{"additionalPrinterColumns", "additionalPrinterColumns"},
	{"selectableFields", "selectableFields"},
}

// internalSpec returns the spec of a definition in kube-apiserver's internal version, which
// validation uses.
func internalSpec(spec map[string]any) map[string]any {
	out := make(map[string]any, len(spec)+len(perVersion))
	for name, v := range spec {
		out[name] = v
	}
	if conversion := object.Map(spec, "conversion"); conversion != nil {
		out["conversion"] = internalConversion(conversion)
	}
	versions := object.List(spec, "versions")
	if len(versions) == 0 {
		return out
	}
	copies := make([]any, len(versions))
	for i, v := range versions {
		version := map[string]any{}
		if v, ok := v.(map[string]any); ok {
			for name, member := range v {
				version[name] = member
			}
		}
		copies[i] = version
	}
	out["versions"] = copies
	first, _ := copies[0].(map[string]any)
	out["version"] = first["name"]
	for _, s := range perVersion {
		common := first[s.versionField]
		same := true
		for v := range object.Each(copies[1:]) {
			same = same && validation.Equal(v[s.versionField], common)
		}
		if !same {
			continue
		}
		if common != nil {
			out[s.specField] = common
		}
		for v := range object.Each(copies) {
			delete(v, s.versionField)
		}
	}
	return out
}

// internalConversion returns spec.conversion in the internal version, which has the fields
// of the webhook.
func internalConversion(conversion map[string]any) map[string]any {
	webhook := object.ViewOf(conversion["webhook"])
	out := map[string]any{"strategy": conversion["strategy"]}
	object.Keep(out, webhook, "conversionReviewVersions")
	if config := webhook.At("clientConfig"); !config.IsNil() {
		out["webhookClientConfig"] = config.Shared()
	}
	return out
}
