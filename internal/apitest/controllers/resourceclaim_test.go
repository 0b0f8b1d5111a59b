package controllers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

const resourceClaims = "resourceclaims.resource.k8s.io"

func podClaiming(node, source string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u}, spec: {nodeName: "%s", resourceClaims: [{name: dev, %s}],
  containers: [{name: c, image: i, resources: {claims: [{name: dev}]}}]}, status: {phase: Pending}}`, node, source)
}

func deviceClaim(name, meta, status string) string {
	return fmt.Sprintf(`{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: %s, namespace: default%s},
  spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}, status: {%s}}`, name, meta, status)
}

func TestResourceClaimTemplate(t *testing.T) {
	t.Parallel()
	const template = `{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: gpu, namespace: default},
  spec: {metadata: {labels: {l: v}, annotations: {a: b}}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}}}`
	c := startCluster(t, "resourceclaim-controller")
	c.Put(podClaiming("", "resourceClaimTemplateName: gpu"))
	c.Settle()
	assert.Equal(t, []string{`FailedResourceClaimCreation: PodResourceClaim dev: resource claim template "gpu": resourceclaimtemplate.resource.k8s.io "gpu" not found`}, c.Events("p"))
	c.Put(template)
	c.Settle()
	list := c.List(resourceClaims, "")
	require.Len(t, list, 1)
	made := list[0]
	assert.True(t, strings.HasPrefix(made.Name(), "p-dev-"), made.Name())
	assert.Equal(t, map[string]any{"a": "b", "resource.kubernetes.io/pod-claim-name": "dev"}, object.Value(made, "metadata", "annotations"))
	assert.Equal(t, map[string]any{"l": "v"}, object.Value(made, "metadata", "labels"))
	assert.Equal(t, []any{map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": true}}, object.Value(made, "metadata", "ownerReferences"))
	assert.Equal(t, []any{map[string]any{"name": "dev", "resourceClaimName": made.Name()}}, object.Value(c.Pod("p"), "status", "resourceClaimStatuses"))

	require.NoError(t, c.Server.Remove(resourceClaims, "default", made.Name()))
	c.Settle()
	assert.Empty(t, c.Names(resourceClaims), "a claim that was created is not created again within an hour")
	c.Wait(time.Hour)
	c.MergePatch(podsPath+"/p", `{"metadata":{"labels":{"x":"y"}}}`)
	c.Settle()
	assert.Len(t, c.Names(resourceClaims), 1)

	c.MergePatch(podsPath+"/p/status", `{"status":{"phase":"Succeeded"}}`)
	c.Settle()
	assert.Empty(t, c.Names(resourceClaims), "the claim of a Pod that has ended is deleted")
}

// TestResourceClaimStatuses creates one of two claims again.
func TestResourceClaimStatuses(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "resourceclaim-controller")
	c.Put(`{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: gpu, namespace: default},
  spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}}}`)
	c.Put(`{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u}, spec: {
  resourceClaims: [{name: b, resourceClaimTemplateName: gpu}, {name: a, resourceClaimTemplateName: gpu}],
  containers: [{name: c, image: i, resources: {claims: [{name: a}, {name: b}]}}]}, status: {phase: Pending}}`)
	c.Settle()
	before := object.List(c.Pod("p"), "status", "resourceClaimStatuses")
	require.Len(t, before, 2)
	first := before[0].(map[string]any)
	assert.Equal(t, "a", first["name"])

	c.Wait(time.Hour)
	require.NoError(t, c.Server.Remove(resourceClaims, "default", first["resourceClaimName"].(string)))
	c.MergePatch(podsPath+"/p", `{"metadata":{"labels":{"x":"y"}}}`)
	c.Settle()
	after := object.List(c.Pod("p"), "status", "resourceClaimStatuses")
	require.Len(t, after, 2)
	assert.NotEqual(t, first, after[0], "there is a new claim")
	assert.Equal(t, before[1], after[1])
}

func TestResourceClaimReservation(t *testing.T) {
	t.Parallel()
	const allocated = `allocation: {devices: {results: [{request: r, driver: d.example.com, pool: p, device: x}]}}`
	reserved := func(uid string) []any { return []any{map[string]any{"resource": "pods", "name": "p", "uid": uid}} }
	const byPod = `, reservedFor: [{resource: pods, name: p, uid: u}]`
	const protected = `, finalizers: [resource.kubernetes.io/delete-protection]`
	tests := []struct {
		name        string
		objects     []string
		reserved    []any
		allocated   bool
		unprotected bool
	}{
		{"a Pod with a Node", []string{podClaiming("n", "resourceClaimName: k"), deviceClaim("k", "", allocated)}, reserved("u"), true, true},
		{"a Pod without a Node", []string{podClaiming("", "resourceClaimName: k"), deviceClaim("k", "", allocated)}, nil, true, true},
		{"not allocated", []string{podClaiming("n", "resourceClaimName: k"), deviceClaim("k", "", "")}, nil, false, true},
		{"a Pod that is gone", []string{deviceClaim("k", protected, allocated+byPod)}, nil, false, true},
		{"a Pod that is gone, of another allocator", []string{deviceClaim("k", "", allocated+byPod)}, nil, true, true},
		{"another Pod of the name", []string{podClaiming("", "resourceClaimName: other"), deviceClaim("k", protected, allocated+`, reservedFor: [{resource: pods, name: p, uid: w}]`)}, nil, false, true},
		{"another consumer", []string{deviceClaim("k", protected, allocated+`, reservedFor: [{apiGroup: example.com, resource: things, name: p, uid: w}]`)},
			[]any{map[string]any{"apiGroup": "example.com", "resource": "things", "name": "p", "uid": "w"}}, true, false},
		{"never reserved", []string{deviceClaim("k", protected, allocated)}, nil, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startCluster(t, "resourceclaim-controller", fakeapi.WithNamespaces("shop"))
			c.Put(tt.objects...)
			c.Settle()
			k := c.Get(resourceClaims, "default", "k")
			assert.Equal(t, tt.reserved, object.List(k, "status", "reservedFor"))
			assert.Equal(t, tt.allocated, object.Map(k, "status", "allocation") != nil)
			assert.Equal(t, tt.unprotected, len(object.Strings(k, "metadata", "finalizers")) == 0)
		})
	}
}
