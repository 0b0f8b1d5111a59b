package resourcequota_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/resourcequota"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

func TestEvaluate(t *testing.T) {
	const gib = `"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"gold","resources":{"requests":{"storage":"1Gi"}}}`
	pod := func(fields string) string { return `{"spec":{` + fields + `}}` }
	container := func(resources string) string { return `"containers":[{"name":"c","resources":{` + resources + `}}]` }
	for _, r := range []struct {
		name, resource, object, old, subresource string
		hard, used, scopes                       string // of the quota
		minor                                    int    // of the release; 0 is the newest
		want, err                                string // status.used afterwards; "" if it does not change
	}{
		{name: "count", resource: "configmaps", object: `{}`, hard: `{"count/configmaps":"2","configmaps":"2","secrets":"1"}`, used: `{"count/configmaps":"1","configmaps":"0","secrets":"0"}`,
			want: `{"count/configmaps":"2","configmaps":"1","secrets":"0"}`},
		{name: "count with group, exceeded", resource: "deployments.apps", object: `{}`, hard: `{"count/deployments.apps":"1"}`, used: `{"count/deployments.apps":"1"}`,
			err: "exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1"},
		{name: "quota of other resources", resource: "secrets", object: `{}`, hard: `{"configmaps":"0"}`, used: `{"configmaps":"0"}`},
		{name: "no present use", resource: "secrets", object: `{}`, hard: `{"secrets":"1","count/secrets":"1"}`, used: `{"secrets":"0"}`, err: "status unknown for quota: q, resources: count/secrets,secrets"},
		{name: "pod requests and limits", resource: "pods", object: pod(container(`"requests":{"cpu":"100m","memory":"1Gi","example.com/gpu":"2"},"limits":{"cpu":"1"}`) + `,"overhead":{"cpu":"10m"}`),
			hard: `{"pods":"3","cpu":"1","requests.memory":"2Gi","limits.cpu":"2","requests.example.com/gpu":"4"}`, used: `{"pods":"1","cpu":"500m","requests.memory":"0","limits.cpu":"0","requests.example.com/gpu":"0"}`,
			want: `{"pods":"2","cpu":"610m","requests.memory":"1Gi","limits.cpu":"1010m","requests.example.com/gpu":"2"}`},
		{name: "pod requests exceeded", resource: "pods", object: pod(container(`"requests":{"cpu":"2","memory":"3Gi"}`)), hard: `{"cpu":"1","memory":"1Gi","pods":"5"}`, used: `{"cpu":"500m","memory":"0","pods":"0"}`,
			err: "exceeded quota: q, requested: cpu=2,memory=3Gi, used: cpu=500m,memory=0, limited: cpu=1,memory=1Gi"},
		{name: "pod without requests and limits", resource: "pods", object: pod(`"initContainers":[{"name":"i"}],` + container(`"requests":{"cpu":"1"}`)), hard: `{"limits.memory":"1","requests.cpu":"9"}`, used: `{"limits.memory":"0","requests.cpu":"0"}`,
			err: "failed quota: q: must specify limits.memory for: c,i; requests.cpu for: i"},
		{name: "pod-level resources", resource: "pods", object: pod(`"resources":{"requests":{"cpu":"1"}},` + container(``)), hard: `{"requests.cpu":"9"}`, used: `{"requests.cpu":"0"}`, want: `{"requests.cpu":"1"}`},
		{name: "update of a pod", resource: "pods", object: pod(container(``)), old: pod(container(``)), hard: `{"pods":"0"}`, used: `{"pods":"0"}`},
		{name: "activeDeadlineSeconds added", resource: "pods", object: pod(`"activeDeadlineSeconds":1,` + container(``)), old: pod(container(``)), hard: `{"pods":"1"}`, used: `{"pods":"0"}`, scopes: `"scopes":["Terminating"]`, want: `{"pods":"1"}`},
		{name: "activeDeadlineSeconds added before v1.33", minor: 32, resource: "pods", object: pod(`"activeDeadlineSeconds":1,` + container(``)), old: pod(container(``)), hard: `{"pods":"1"}`, used: `{"pods":"0"}`, scopes: `"scopes":["Terminating"]`},
		{name: "resized pod", resource: "pods", subresource: "resize", object: pod(container(`"requests":{"cpu":"300m"}`)), old: pod(container(`"requests":{"cpu":"100m"}`)), hard: `{"requests.cpu":"1"}`, used: `{"requests.cpu":"100m"}`, want: `{"requests.cpu":"300m"}`},
		{name: "out of scope", resource: "pods", object: pod(container(`"requests":{"cpu":"1"}`)), hard: `{"pods":"0"}`, used: `{"pods":"0"}`, scopes: `"scopes":["BestEffort"]`},
		{name: "in scope", resource: "pods", object: pod(container(``)), hard: `{"pods":"1"}`, used: `{"pods":"0"}`, scopes: `"scopes":["BestEffort","NotTerminating"]`, want: `{"pods":"1"}`},
		{name: "priority", resource: "pods", object: pod(`"priorityClassName":"a",` + container(``)), hard: `{"pods":"1"}`, used: `{"pods":"0"}`, scopes: `"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["a"]}]}`, want: `{"pods":"1"}`},
		{name: "other priority", resource: "pods", object: pod(`"priorityClassName":"a",` + container(``)), hard: `{"pods":"0"}`, used: `{"pods":"0"}`, scopes: `"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"NotIn","values":["a"]}]}`},
		{name: "no priority", resource: "pods", object: pod(container(``)), hard: `{"pods":"0"}`, used: `{"pods":"0"}`, scopes: `"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"NotIn","values":["a"]}]}`,
			err: "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"},
		{name: "affinity across namespaces", resource: "pods", object: pod(`"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"k","namespaces":["n"]}}]}},` + container(``)),
			hard: `{"pods":"0"}`, used: `{"pods":"0"}`, scopes: `"scopes":["CrossNamespacePodAffinity"]`, err: "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"},
		{name: "service", resource: "services", object: `{"spec":{"type":"NodePort","ports":[{"port":1},{"port":2}]}}`, hard: `{"services":"2","services.nodeports":"3","services.loadbalancers":"0"}`, used: `{"services":"0","services.nodeports":"1","services.loadbalancers":"0"}`,
			want: `{"services":"1","services.nodeports":"3","services.loadbalancers":"0"}`},
		{name: "type of a service changed", resource: "services", object: `{"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"port":1,"nodePort":30000},{"port":2}]}}`, old: `{"spec":{"ports":[{"port":1}]}}`,
			hard: `{"services":"1","services.nodeports":"1","services.loadbalancers":"1"}`, used: `{"services":"1","services.nodeports":"0","services.loadbalancers":"0"}`, want: `{"services":"1","services.nodeports":"1","services.loadbalancers":"1"}`},
		{name: "claim", resource: "persistentvolumeclaims", object: `{` + gib + `}`, hard: `{"requests.storage":"2Gi","gold.storageclass.storage.k8s.io/requests.storage":"2Gi","silver.storageclass.storage.k8s.io/persistentvolumeclaims":"0"}`,
			used: `{"requests.storage":"512Mi","gold.storageclass.storage.k8s.io/requests.storage":"0","silver.storageclass.storage.k8s.io/persistentvolumeclaims":"0"}`,
			want: `{"requests.storage":"1536Mi","gold.storageclass.storage.k8s.io/requests.storage":"1Gi","silver.storageclass.storage.k8s.io/persistentvolumeclaims":"0"}`},
		{name: "claim with allocated storage", resource: "persistentvolumeclaims", subresource: "status", object: `{` + gib + `,"status":{"allocatedResources":{"storage":"3Gi"}}}`, old: `{` + gib + `}`, hard: `{"requests.storage":"2Gi"}`, used: `{"requests.storage":"1Gi"}`, want: `{"requests.storage":"3Gi"}`},
		{name: "claim with a VolumeAttributesClass", resource: "persistentvolumeclaims", object: `{"spec":{"volumeAttributesClassName":"a"}}`, hard: `{"persistentvolumeclaims":"0"}`, used: `{"persistentvolumeclaims":"0"}`,
			scopes: `"scopeSelector":{"matchExpressions":[{"scopeName":"VolumeAttributesClass","operator":"Exists"}]}`, err: "exceeded quota: q, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=0, limited: persistentvolumeclaims=0"},
		{name: "devices", resource: "resourceclaims.resource.k8s.io", object: `{"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"gpu","allocationMode":"All"}},{"name":"b","firstAvailable":[{"name":"x","deviceClassName":"gpu","count":3},{"name":"y","deviceClassName":"gpu","count":4}]}]}}}`,
			hard: `{"gpu.deviceclass.resource.k8s.io/devices":"36"}`, used: `{"gpu.deviceclass.resource.k8s.io/devices":"0"}`, want: `{"gpu.deviceclass.resource.k8s.io/devices":"36"}`},
	} {
		t.Run(r.name, func(t *testing.T) {
			a := (&admissiontest.Request{Resource: r.resource, Subresource: r.subresource, Object: r.object, Old: r.old, Minor: r.minor}).Attributes(t)
			if r.scopes == "" {
				r.scopes = `"scopes":[]`
			}
			quota := admissiontest.Decode(t, admissiontest.Type(t, "resourcequotas"), `{"metadata":{"name":"q"},"spec":{`+r.scopes+`},"status":{"hard":`+r.hard+`,"used":`+r.used+`}}`)
			if !(resourcequota.Plugin{}).Handles(a) {
				assert.Empty(t, r.want+r.err, "not handled")
				return
			}
			used, err := resourcequota.Plugin{}.Evaluate(a, []object.View{object.ViewOf(quota)})
			if r.err != "" {
				assert.EqualError(t, err, r.err)
				return
			}
			require.NoError(t, err)
			if r.want == "" {
				assert.Nil(t, used[0])
				return
			}
			text, err := json.Marshal(used[0])
			require.NoError(t, err)
			assert.JSONEq(t, r.want, string(text))
		})
	}
}

func TestHandles(t *testing.T) {
	custom := &resource.Type{GroupVersion: resource.GroupVersion{Group: "example.com", Version: "v1"}, Name: "widgets", Namespaced: true, Strategy: &resource.Strategy{}}
	custom.Stored = custom.GroupVersion
	for _, tt := range []struct {
		name        string
		typ         *resource.Type
		operation   admission.Operation
		subresource string
		want        bool
	}{
		{"custom resource", custom, admission.Create, "", true},
		{"update of a custom resource", custom, admission.Update, "", false},
		{"subresource", custom, admission.Create, "status", false},
		{"deletion", custom, admission.Delete, "", false},
		{"cluster-scoped resource", admissiontest.Type(t, "nodes"), admission.Create, "", false},
		{"event", admissiontest.Type(t, "events"), admission.Create, "", false},
		{"review", admissiontest.Type(t, "localsubjectaccessreviews.authorization.k8s.io"), admission.Create, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &admission.Attributes{Type: tt.typ, Operation: tt.operation, Subresource: tt.subresource}
			assert.Equal(t, tt.want, resourcequota.Plugin{}.Handles(a))
		})
	}
	a := &admission.Attributes{Type: custom, Operation: admission.Create, Object: map[string]any{}}
	quota := map[string]any{
		"metadata": map[string]any{"name": "q"},
		"status":   map[string]any{"hard": map[string]any{"count/widgets.example.com": "2"}, "used": map[string]any{"count/widgets.example.com": "1"}},
	}
	used, err := resourcequota.Plugin{}.Evaluate(a, []object.View{object.ViewOf(quota)})
	require.NoError(t, err)
	assert.Equal(t, []map[string]any{{"count/widgets.example.com": "2"}}, used)
}
