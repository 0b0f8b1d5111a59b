package crd

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// shared are the members of a version that kube-apiserver keeps once for all
// versions where they are the same in all, and what they are called there. Its
// errors tell of them so.
var shared = []struct{ ofVersion, ofAll string }{
	{"schema", "validation"},
	{"subresources", "subresources"},
	{"additionalPrinterColumns", "additionalPrinterColumns"},
	{"selectableFields", "selectableFields"},
}

// inMemory is the spec of a definition as kube-apiserver has it in memory, and
// checks it.
func inMemory(spec map[string]any) map[string]any {
	out := make(map[string]any, len(spec)+len(shared))
	for name, v := range spec {
		out[name] = v
	}
	if conversion := object.Map(spec, "conversion"); conversion != nil {
		out["conversion"] = conversionInMemory(conversion)
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
	for _, s := range shared {
		common := first[s.ofVersion]
		same := true
		for v := range object.Each(copies[1:]) {
			same = same && validation.Equal(v[s.ofVersion], common)
		}
		if !same {
			continue
		}
		if common != nil {
			out[s.ofAll] = common
		}
		for v := range object.Each(copies) {
			delete(v, s.ofVersion)
		}
	}
	return out
}

// conversionInMemory is the conversion of a spec: there the webhook's members
// are its own.
func conversionInMemory(conversion map[string]any) map[string]any {
	webhook := object.Map(conversion, "webhook")
	out := map[string]any{"strategy": conversion["strategy"]}
	object.Keep(out, webhook, "conversionReviewVersions")
	if config := object.Map(webhook, "clientConfig"); config != nil {
		out["webhookClientConfig"] = config
	}
	return out
}
