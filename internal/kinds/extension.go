package kinds

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
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
	defaultServiceReference(object.Map(spec, "conversion", "webhook", "clientConfig", "service"))
	if status := object.Map(obj, "status"); status != nil && len(object.List(status, "storedVersions")) == 0 {
		addStorageVersion(status, spec)
	}
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
