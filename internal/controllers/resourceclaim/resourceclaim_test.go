package resourceclaim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/controllers/controllertest"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	claims   = "resourceclaims.resource.k8s.io"
	template = `{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: gpu, namespace: default},
  spec: {metadata: {labels: {l: v}, annotations: {a: b}}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}}}`
)

func pod(node, source string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u}, spec: {nodeName: "%s", resourceClaims: [{name: dev, %s}],
  containers: [{name: c, image: i, resources: {claims: [{name: dev}]}}]}, status: {phase: Pending}}`, node, source)
}

func claim(name, meta, status string) string {
	return fmt.Sprintf(`{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: %s, namespace: default%s},
  spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}, status: {%s}}`, name, meta, status)
}

const allocated = `allocation: {devices: {results: [{request: r, driver: d.example.com, pool: p, device: x}]}}`

func TestTemplate(t *testing.T) {
	c := controllertest.StartCluster(t, "resourceclaim-controller")
	c.Put(pod("", "resourceClaimTemplateName: gpu"))
	c.Settle(0)
	assert.Equal(t, []string{`FailedResourceClaimCreation: PodResourceClaim dev: resource claim template "gpu": resourceclaimtemplate.resource.k8s.io "gpu" not found`}, c.Events("p"))
	c.Put(template)
	c.Settle(0)
	list, err := c.List(claims, "")
	require.NoError(t, err)
	require.Len(t, list, 1)
	made := list[0]
	assert.True(t, strings.HasPrefix(made.Name(), "p-dev-"), made.Name())
	assert.Equal(t, map[string]any{"a": "b", "resource.kubernetes.io/pod-claim-name": "dev"}, object.Value(made, "metadata", "annotations"))
	assert.Equal(t, map[string]any{"l": "v"}, object.Value(made, "metadata", "labels"))
	assert.Equal(t, []any{map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": true}}, object.Value(made, "metadata", "ownerReferences"))
	assert.Equal(t, []any{map[string]any{"name": "dev", "resourceClaimName": made.Name()}}, object.Value(c.Pod("p"), "status", "resourceClaimStatuses"))

	require.NoError(t, c.Server.Remove(claims, "default", made.Name()))
	c.Settle(0)
	assert.Empty(t, controllertest.Names(t, c.Server, claims), "a claim that was created is not created again within an hour")
	c.Wait(time.Hour)
	c.MergePatch("/api/v1/namespaces/default/pods/p", `{"metadata":{"labels":{"x":"y"}}}`)
	c.Settle(0)
	assert.Len(t, controllertest.Names(t, c.Server, claims), 1)

	c.MergePatch("/api/v1/namespaces/default/pods/p/status", `{"status":{"phase":"Succeeded"}}`)
	c.Settle(0)
	assert.Empty(t, controllertest.Names(t, c.Server, claims), "the claim of a Pod that has ended is deleted")
}

func TestReservation(t *testing.T) {
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
		{"a Pod with a Node", []string{pod("n", "resourceClaimName: k"), claim("k", "", allocated)}, reserved("u"), true, true},
		{"a Pod without a Node", []string{pod("", "resourceClaimName: k"), claim("k", "", allocated)}, nil, true, true},
		{"not allocated", []string{pod("n", "resourceClaimName: k"), claim("k", "", "")}, nil, false, true},
		{"a Pod that is gone", []string{claim("k", protected, allocated+byPod)}, nil, false, true},
		{"a Pod that is gone, of another allocator", []string{claim("k", "", allocated+byPod)}, nil, true, true},
		{"another Pod of the name", []string{pod("", "resourceClaimName: other"), claim("k", protected, allocated+`, reservedFor: [{resource: pods, name: p, uid: w}]`)}, nil, false, true},
		{"another consumer", []string{claim("k", protected, allocated+`, reservedFor: [{apiGroup: example.com, resource: things, name: p, uid: w}]`)},
			[]any{map[string]any{"apiGroup": "example.com", "resource": "things", "name": "p", "uid": "w"}}, true, false},
		{"never reserved", []string{claim("k", protected, allocated)}, nil, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := controllertest.StartCluster(t, "resourceclaim-controller", fakeapi.WithNamespaces("shop"))
			for _, o := range tt.objects {
				c.Put(o)
			}
			c.Settle(0)
			k := c.Get(claims, "default", "k")
			assert.Equal(t, tt.reserved, object.List(k, "status", "reservedFor"))
			assert.Equal(t, tt.allocated, object.Map(k, "status", "allocation") != nil)
			assert.Equal(t, tt.unprotected, len(object.Strings(k, "metadata", "finalizers")) == 0)
		})
	}
}
