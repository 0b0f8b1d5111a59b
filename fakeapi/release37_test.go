package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// TestRulesOfRelease137 checks rules that v1.37 changed, before and after.
func TestRulesOfRelease137(t *testing.T) {
	const (
		autoscaler = `/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/a/status`
		scale      = `/apis/apps/v1/namespaces/default/deployments/a/scale`
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
`))
				code, obj := do(t, srv, tt.method, tt.path, tt.body)
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

// TestPodLevelResourcesOfRelease137 checks the QoS class of a Pod with empty resources of its own.
func TestPodLevelResourcesOfRelease137(t *testing.T) {
	for release, want := range map[string]string{"v1.36": "BestEffort", "v1.37": "Burstable"} {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(release))
		_, pod := do(t, srv, "POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"a"},"spec":{"resources":{},"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`)
		require.Contains(t, pod, "status", pod["message"])
		assert.Equal(t, want, pod["status"].(map[string]any)["qosClass"], release)
	}
}
