package releases_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// TestRulesOfRelease137 checks rules that v1.37 changed, before and after.
func TestRulesOfRelease137(t *testing.T) {
	const (
		autoscaler = `/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/a/status`
		scale      = `/apis/apps/v1/namespaces/default/deployments/a/scale`
		twice      = `{"metadata":{"name":"a"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"a"}},{"name":"r","exactly":{"deviceClassName":"a"}}]}}}`
		claim      = `{"metadata":{"name":"a"},"spec":{"devices":{"constraints":[{"matchAttribute":"a/b","distinctAttribute":"a"}]}}}`
	)
	for _, tt := range []struct{ name, method, path, body, before, after string }{
		{"observedGeneration of a condition", "PATCH", autoscaler, `{"status":{"conditions":[{"type":"a","status":"True","observedGeneration":-1}]}}`,
			"", "status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or equal to 0"},
		{"labels of a scale", "PATCH", scale, `{"metadata":{"labels":{"!":""}}}`, "metadata.labels: Invalid value", ""},
		{"replicas of a scale", "PATCH", scale, `{"spec":{"replicas":-1}}`, "spec.replicas: Invalid value: -1", "spec.replicas: Invalid value: -1"},
		{"providerID", "PATCH", "/api/v1/nodes/a", `{"spec":{"providerID":"b"}}`,
			"node updates may not change providerID except from", "spec.providerID: Invalid value: null: field cannot be modified once set"},
		{"no providerID", "PATCH", "/api/v1/nodes/a", `{"spec":{"providerID":null}}`,
			"node updates may not change providerID except from", "spec.providerID: Invalid value: null: field cannot be cleared once set"},
		{"no limits of a priority level", "POST", "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", `{"metadata":{"name":"a"},"spec":{"type":"Limited"}}`,
			"spec.limited: Required value: must not be empty when type is Limited", `"a" is invalid: spec.limited: Required value`},
		{"an empty address of a pod", "PATCH", "/api/v1/namespaces/default/pods/a/status", `{"status":{"podIPs":[{}]}}`,
			`"a" is invalid: status.podIPs[0]: Invalid value: ""`, `status.podIPs: Invalid value: [{"IP":""}]: podIP and podIPs must either both be set or both be unset`},
		{"a request twice", "POST", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", twice,
			`spec.devices.requests[1]: Duplicate value: "r"`, `spec.devices.requests[1]: Duplicate value: {"name":"r","exactly":{"deviceClassName":"a","allocationMode":"ExactCount","count":1}}`},
		{"two attributes of a constraint", "POST", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", claim,
			"", "spec.devices.constraints[0].distinctAttribute: Invalid value: \"a\": a fully qualified name must be a domain and a name separated by a slash"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for release, want := range map[string]string{"v1.36": tt.before, "v1.37": tt.after} {
				srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(release), fakeapi.WithObjects(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a, namespace: default}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: default}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}
---
apiVersion: v1
kind: Node
metadata: {name: a}
spec: {providerID: a}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: default}
spec: {containers: [{name: c, image: i}]}
`))
				code, obj := apitest.Do(t, srv, tt.method, tt.path, tt.body)
				if want == "" {
					assert.Less(t, code, 300, release)
					continue
				}
				require.Equal(t, 422, code, release)
				assert.Contains(t, obj["message"], want, release)
			}
		})
	}
}

// TestPodLevelResourcesOfRelease137 checks the QoS class of a Pod with empty resources of its own, and
// that pods get the defaults of such resources before admission or after it.
func TestPodLevelResourcesOfRelease137(t *testing.T) {
	const containers = `"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]`
	for release, want := range map[string]struct {
		class, limits, requests string
		dropped                 int
	}{
		"v1.36": {"BestEffort", `{"memory":"2Gi"}`, `{"memory":"2Gi","cpu":"1"}`, 422},
		"v1.37": {"Burstable", `{"memory":"2Gi","cpu":"2"}`, `{"memory":"2Gi","cpu":"1"}`, 200},
	} {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(release))
		_, pod := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"a"},"spec":{"resources":{},`+containers+`}}`)
		require.Contains(t, pod, "status", pod["message"])
		assert.Equal(t, want.class, pod["status"].(map[string]any)["qosClass"], release)

		code, _ := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/limitranges", `{"metadata":{"name":"a"},"spec":{"limits":[{"type":"Container","default":{"cpu":"2"},"defaultRequest":{"cpu":"1"}}]}}`)
		require.Equal(t, 201, code)
		_, pod = apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"b"},"spec":{"resources":{"limits":{"memory":"2Gi"}},`+containers+`}}`)
		require.Contains(t, pod, "spec", pod["message"])
		assertResources(t, pod, want.limits, want.requests)

		// A client that does not know the field drops it.
		code, _ = apitest.Do(t, srv, "PATCH", "/api/v1/namespaces/default/pods/b", `{"spec":{"resources":null}}`)
		assert.Equal(t, want.dropped, code, release)
	}
}

func assertResources(t *testing.T, pod map[string]any, limits, requests string) {
	t.Helper()
	text, err := json.Marshal(pod["spec"].(map[string]any)["resources"])
	require.NoError(t, err)
	assert.JSONEq(t, `{"limits":`+limits+`,"requests":`+requests+`}`, string(text))
}

// A gate of v1.37 that is off by default allows HTTP/2 in probes and handlers.
func TestProtocolsAreDropped(t *testing.T) {
	const get = `{"httpGet":{"port":1,"host":"a.example.com","protocol":"HTTP2"}}`
	for _, member := range []string{`"livenessProbe":` + get, `"lifecycle":{"postStart":` + get + `}`, `"lifecycle":{"preStop":` + get + `}`} {
		t.Run(member, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory())
			code, answer := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i",`+member+`}]}}`)
			require.Equal(t, 201, code, answer)
			text, err := json.Marshal(answer)
			require.NoError(t, err)
			assert.Contains(t, string(text), "a.example.com")
			assert.NotContains(t, string(text), "HTTP2")
		})
	}
}

// The status of a new pod decides its QoS class before v1.37.
func TestQOSClassOfRelease137(t *testing.T) {
	for release, want := range map[string]string{"v1.36": "Burstable", "v1.37": "BestEffort"} {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(release))
		_, pod := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]},"status":{"qosClass":"Burstable"}}`)
		require.Contains(t, pod, "status", pod["message"])
		assert.Equal(t, want, pod["status"].(map[string]any)["qosClass"], release)
	}
}
