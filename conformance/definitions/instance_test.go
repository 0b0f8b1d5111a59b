package definitions

import (
	"math"
	"strings"
)

// instance returns a minimal value of a schema: required fields only, and the smallest
// strings, numbers and lists. It ignores patterns and validation rules.
func instance(schema map[string]any) any {
	if v, ok := schema["default"]; ok {
		return v
	}
	if values, ok := schema["enum"].([]any); ok && len(values) > 0 {
		return values[0]
	}
	number := func(keyword string) int {
		n, _ := schema[keyword].(float64)
		return int(math.Ceil(n))
	}
	switch schema["type"] {
	case "object":
		return object(schema)
	case "array":
		list := make([]any, number("minItems"))
		items, _ := schema["items"].(map[string]any)
		for i := range list {
			list[i] = instance(items)
		}
		return list
	case "string":
		if sample, ok := samples[text(schema["format"])]; ok {
			return sample
		}
		return strings.Repeat("a", max(number("minLength"), 1))
	case "boolean":
		return false
	}
	return number("minimum")
}

// samples has valid strings by format.
var samples = map[string]string{"date-time": "2026-01-02T03:04:05Z", "uri": "https://example.com", "int-or-string": "1"}

func object(schema map[string]any) map[string]any {
	obj := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range required {
		property, _ := properties[text(name)].(map[string]any)
		obj[text(name)] = instance(property)
	}
	return obj
}

// merge merges the fields of from into an object.
func merge(into, from map[string]any) {
	for name, v := range from {
		old, ok := into[name].(map[string]any)
		if more, isObject := v.(map[string]any); ok && isObject {
			merge(old, more)
			continue
		}
		into[name] = v
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// rejections has the definitions whose patterns and rules reject minimal values, the error
// message, and the fields of the spec that are needed too.
var rejections = map[string]struct{ message, spec string }{
	"backendtlspolicies.gateway.networking.k8s.io": {
		"spec.validation: Invalid value: must specify either CACertificateRefs or WellKnownCACertificates",
		`{"validation":{"wellKnownCACertificates":"System"}}`,
	},
	"clusterclasses.cluster.x-k8s.io": {
		"spec.controlPlane.templateRef.apiVersion in body should match '^[a-z0-9]",
		`{"controlPlane":{"templateRef":{"apiVersion":"example.com/v1"}},"infrastructure":{"templateRef":{"apiVersion":"example.com/v1"}}}`,
	},
	"clusters.cluster.x-k8s.io": {
		"spec: Invalid value: 0: spec in body should have at least 1 properties",
		`{"paused":true}`,
	},
	"extensionconfigs.runtime.cluster.x-k8s.io": {
		"spec.clientConfig: Invalid value: 0: spec.clientConfig in body should have at least 1 properties",
		`{"clientConfig":{"url":"https://example.com"}}`,
	},
	"gatewayclasses.gateway.networking.k8s.io": {
		"spec.controllerName in body should match '^[a-z0-9]",
		`{"controllerName":"example.com/controller"}`,
	},
	"orders.acme.cert-manager.io": {
		`spec.request: Invalid value: "a": spec.request in body must be of type byte: "a"`,
		`{"request":"YQ=="}`,
	},
	"tcproutes.gateway.networking.k8s.io": needsPort,
	"tlsroutes.gateway.networking.k8s.io": needsPort,
	"udproutes.gateway.networking.k8s.io": needsPort,
	"trafficextensions.extensions.istio.io": {
		"spec: Invalid value: exactly one of wasm or lua must be set",
		`{"lua":{"inlineCode":"x"}}`,
	},
	"volumegroupsnapshotcontents.groupsnapshot.storage.k8s.io": {
		"spec.source: Invalid value: exactly one of volumeHandles and groupSnapshotHandles must be set",
		`{"source":{"volumeHandles":["a"]},"volumeGroupSnapshotRef":{"name":"a","namespace":"b"}}`,
	},
	"volumegroupsnapshots.groupsnapshot.storage.k8s.io": {
		"spec.source: Invalid value: exactly one of selector and volumeGroupSnapshotContentName must be set",
		`{"source":{"selector":{}}}`,
	},
	"volumesnapshotcontents.snapshot.storage.k8s.io": {
		"spec.source: Invalid value: exactly one of volumeHandle and snapshotHandle must be set",
		`{"source":{"volumeHandle":"a"},"volumeSnapshotRef":{"name":"a","namespace":"b"},"sourceVolumeMode":"Block"}`,
	},
	"volumesnapshots.snapshot.storage.k8s.io": {
		"spec.source: Invalid value: exactly one of volumeSnapshotContentName and persistentVolumeClaimName must be set",
		`{"source":{"persistentVolumeClaimName":"a"}}`,
	},
	"workloadentries.networking.istio.io": {
		"spec: Invalid value: Address is required",
		`{"address":"10.0.0.1"}`,
	},
	"xmeshes.gateway.networking.x-k8s.io": {
		"spec.controllerName in body should match '^[a-z0-9]",
		`{"controllerName":"example.com/controller"}`,
	},
}

var needsPort = struct{ message, spec string }{
	"spec.rules[0].backendRefs[0]: Invalid value: Must have port for Service reference",
	`{"rules":[{"backendRefs":[{"name":"a","port":80}],"name":"a"}]}`,
}
