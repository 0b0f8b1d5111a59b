package releases_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// TestAlphaRulesOfRelease137 checks rules for fields of v1.37 whose feature gates are off by default.
func TestAlphaRulesOfRelease137(t *testing.T) {
	pod := func(container, spec string) string {
		return `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"` + container + `}]` + spec + `}}`
	}
	slice := func(device, spec string) string {
		return `{"metadata":{"name":"a"},"spec":{"driver":"d.example.com","allNodes":true,"pool":{"name":"p","generation":1,"resourceSliceCount":1},` +
			`"devices":[{"name":"d"` + device + `}]` + spec + `}}`
	}
	const (
		pods   = "/api/v1/namespaces/default/pods"
		slices = "/apis/resource.k8s.io/v1/resourceslices"
		claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
	)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.37"),
		fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"AllAlpha": true, "AllBeta": true}}))
	for _, tt := range []struct{ name, path, body, want string }{
		{"an unknown mount option", pods, pod(`,"volumeMounts":[{"name":"v","mountPath":"/v","bindMountOptions":["x"]}]`, `,"volumes":[{"name":"v","emptyDir":{}}]`),
			`spec.containers[0].volumeMounts[0].bindMountOptions[0]: Unsupported value: "x": supported values: "nodev", "noexec", "nosuid"`},
		{"mount options of an image", pods, pod(`,"volumeMounts":[{"name":"v","mountPath":"/v","bindMountOptions":["nodev"]}]`, `,"volumes":[{"name":"v","image":{"reference":"i"}}]`),
			`spec.containers[0].volumeMounts[0].bindMountOptions: Invalid value: ["nodev"]: bindMountOptions may not be used with image volumes`},
		{"the mode of an emptyDir", pods, pod("", `,"volumes":[{"name":"v","emptyDir":{"mode":1024}}]`),
			`spec.volumes[0].emptyDir.mode: Invalid value: 1024: must be a number between 0 and 01777 (octal), both inclusive`},
		{"the user of files", pods, pod("", `,"volumes":[{"name":"v","configMap":{"name":"c","defaultUser":-1}}]`),
			`spec.volumes[0].configMap.defaultUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`},
		{"HTTP/2 of a probe with TLS", pods, pod(`,"livenessProbe":{"httpGet":{"port":1,"scheme":"HTTPS","protocol":"HTTP2"}}`, ""),
			`spec.containers[0].livenessProbe.httpGet.protocol: Invalid value: "HTTP2": is only supported with HTTP (H2C)`},
		{"the mode of a probe", pods, pod(`,"livenessProbe":{"grpc":{"port":1,"mode":"x"}}`, ""),
			`spec.containers[0].livenessProbe.grpc.mode: Unsupported value: "x": supported values: "Plaintext", "TLS"`},
		{"a responder without a domain", pods, pod("", `,"evictionResponders":[{"name":"a","priority":1000}]`),
			`spec.evictionResponders[0].name: Invalid value: "a": must include a prefix (e.g. 'example.com/key')`},
		{"a responder of Kubernetes", pods, pod("", `,"evictionResponders":[{"name":"a.k8s.io/a","priority":1000}]`),
			`spec.evictionResponders[0].name: Invalid value: "a.k8s.io/a": domain names *.k8s.io, *.kubernetes.io are reserved`},
		{"a responder with a reserved priority", pods, pod("", `,"evictionResponders":[{"name":"e.com/a","priority":1}]`),
			`spec.evictionResponders[0].priority: Invalid value: 1: priorities 0-999 are reserved for responders with *.k8s.io suffix`},
		{"a responder twice", pods, pod("", `,"evictionResponders":[{"name":"e.com/a","priority":1000},{"name":"e.com/a","priority":1000}]`),
			`spec.evictionResponders[1]: Duplicate value: {"name":"e.com/a","priority":1000}`},
		{"a type of partitions without counters", slices, slice("", `,"partitionTypeAttribute":"d.example.com/a"`),
			`spec.partitionTypeAttribute: Invalid value: "d.example.com/a": may only be set on a slice which declares devices that consume counters`},
		{"a device without its type of partition", slices, slice(`,"consumesCounters":[{"counterSet":"c","counters":{"n":{"value":"1"}}}]`, `,"partitionTypeAttribute":"d.example.com/a"`),
			"spec.devices[0].attributes[d.example.com/a]: Required value: device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set"},
		{"a resource that no Node has", slices, slice(`,"nodeAllocatableResources":{"a":{"overhead":{"perPod":"1"}}}`, ""),
			`spec.devices[0].nodeAllocatableResources[a]: Invalid value: "a": must be a node allocatable resource name`},
		{"a resource of a Node without a source", slices, slice(`,"nodeAllocatableResources":{"cpu":{"mapping":{"capacityMultiplier":"0"}}}`, ""),
			"[spec.devices[0].nodeAllocatableResources[cpu].mapping.capacityKey: Required value: capacityKey is required when capacityMultiplier is set, spec.devices[0].nodeAllocatableResources[cpu].mapping: Invalid value: \"\": must specify one of: `capacityKey`, `deviceMultiplier`]"},
		{"a resource of a Node with two sources", slices, slice(`,"capacity":{"k":{"value":"1"}},"nodeAllocatableResources":{"cpu":{"mapping":{"capacityKey":"k","capacityMultiplier":"1","deviceMultiplier":"1"}}}`, ""),
			"spec.devices[0].nodeAllocatableResources[cpu].mapping: Invalid value: \"{capacityKey, deviceMultiplier}\": must specify exactly one of: `capacityKey`, `deviceMultiplier`"},
		{"an attribute without a constraint", claims, `{"metadata":{"name":"a"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c","derivedAttributes":[{"name":"e.com/a","expression":"1"}]}}]}}}`,
			`spec.devices.requests[0].exactly.derivedAttributes[0].name: Invalid value: "e.com/a": must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, obj := apitest.Do(t, srv, "POST", tt.path, tt.body)
			require.Equal(t, 422, code, obj)
			assert.Contains(t, obj["message"], tt.want)
		})
	}
	code, obj := apitest.Do(t, srv, "POST", pods, pod("", `,"hostUsers":false,"hostNetwork":true`))
	assert.Equal(t, 201, code, obj)
}
