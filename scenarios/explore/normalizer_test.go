package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/journal"
)

const deploymentController = "system:serviceaccount:kube-system:deployment-controller"

// written returns the change that creates an object.
func written(user, manager, resource string, o fakeapi.Object) change {
	return change{
		user: user, manager: manager, client: manager, object: o,
		what: journal.Change{Type: journal.Added, Resource: resource, Namespace: "default", Name: o.Name()},
	}
}

func dependentOf(kind, owner, name string, fields map[string]any) fakeapi.Object {
	o := fakeapi.Object{"kind": kind, "metadata": map[string]any{
		"name": name, "uid": "uid-of-" + name,
		"ownerReferences": []any{map[string]any{"name": owner, "uid": "uid-of-" + owner, "controller": true}},
	}}
	for k, v := range fields {
		o[k] = v
	}
	return o
}

// Objects of the controllers of the cluster are compared by their owners, and by what they ask for.
func TestEndOfDependents(t *testing.T) {
	user := written("admin", "kubectl", "deployments.apps", fakeapi.Object{"kind": "Deployment", "metadata": map[string]any{"name": "web", "uid": "uid-of-web"}})
	cluster := func(resource string, o fakeapi.Object) change {
		return written(deploymentController, "kube-controller-manager", resource, o)
	}
	replicas := func(n int64) map[string]any { return map[string]any{"spec": map[string]any{"replicas": n}} }
	pod := map[string]any{"spec": map[string]any{"nodeName": "a"}, "status": map[string]any{"phase": "Running", "hostIP": "10.0.0.1"}}
	o := &outcome{changes: []change{
		user,
		cluster("replicasets.apps", dependentOf("ReplicaSet", "web", "web-5d4f8c7b9d", replicas(0))),
		cluster("replicasets.apps", dependentOf("ReplicaSet", "web", "web-66bb4c6d8d", replicas(2))),
		cluster("pods", dependentOf("Pod", "web-66bb4c6d8d", "web-66bb4c6d8d-x2x4z", pod)),
		cluster("pods", dependentOf("Pod", "web-66bb4c6d8d", "web-66bb4c6d8d-2z2z2", pod)),
		cluster("pods", dependentOf("Pod", "db", "db-0", pod)),
		cluster("controllerrevisions.apps", dependentOf("ControllerRevision", "db", "db-66bb4c6d8d", map[string]any{"revision": int64(2)})),
	}}
	o.summarize(bubblePace)
	numbers := map[string]int{}
	for key, texts := range o.final {
		numbers[key.String()] = len(texts)
	}
	assert.Equal(t, map[string]int{
		"deployments.apps default/web":   1,
		"replicasets.apps default/web-*": 1,
		"pods default/web-*":             2,
		"pods default/db-0":              1,
	}, numbers)
}

// Of an object that others have created, the controllers of the cluster write history.
func TestLasting(t *testing.T) {
	managed := []any{
		map[string]any{"manager": "operator", "fieldsV1": map[string]any{
			"f:metadata": map[string]any{"f:annotations": map[string]any{"f:apps.kubernetes.io/mine": map[string]any{}}},
			"f:status":   map[string]any{"f:conditions": map[string]any{`k:{"type":"Mine"}`: map[string]any{".": map[string]any{}, "f:status": map[string]any{}, "f:type": map[string]any{}}}},
		}},
		map[string]any{"manager": "kube-controller-manager", "fieldsV1": map[string]any{}},
	}
	status := map[string]any{"phase": "Running", "replicas": int64(1), "conditions": []any{
		map[string]any{"type": "Ready", "status": "True"}, map[string]any{"type": "Mine", "status": "False"},
	}}
	annotations := map[string]any{"deployment.kubernetes.io/revision": "2", "apps.kubernetes.io/mine": "a", "example.com/b": "b"}
	mine := map[string]any{"conditions": []any{map[string]any{"type": "Mine", "status": "False"}}}
	for name, row := range map[string]struct {
		resource string
		status   map[string]any
	}{
		"Deployment": {"deployments.apps", mine},
		"Pod":        {"pods", map[string]any{"conditions": mine["conditions"], "phase": "Running", "ready": "True"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := fakeapi.Object{"metadata": map[string]any{"name": "a", "annotations": annotations, "managedFields": managed}, "spec": map[string]any{"nodeName": "one"}, "status": status}
			n := &normalizer{managers: map[string]bool{"kube-controller-manager": true}}
			got := n.lasting(&life{change: &change{what: journal.Change{Resource: row.resource}, object: o}, shared: true, node: "one"})
			assert.Equal(t, fakeapi.Object{
				"metadata": map[string]any{"name": "a", "annotations": map[string]any{"apps.kubernetes.io/mine": "a", "example.com/b": "b"}, "managedFields": managed},
				"spec":     map[string]any{"nodeName": "<node>"},
				"status":   row.status,
			}, got)
			assert.Equal(t, status["phase"], "Running", "the object itself stays as it is")
			assert.Len(t, annotations, 3)
		})
	}
}

// The addresses of Pods are allocated, and EndpointSlices have them.
func TestAddressesOfPods(t *testing.T) {
	slice := fakeapi.Object{"kind": "EndpointSlice", "endpoints": []any{map[string]any{"addresses": []any{"10.244.0.3"}}, map[string]any{"addresses": []any{"192.0.2.7"}}}}
	n := newNormalizer([]change{written("admin", "kubelet", "pods", fakeapi.Object{
		"metadata": map[string]any{"name": "web"}, "status": map[string]any{"podIPs": []any{map[string]any{"ip": "10.244.0.3"}}},
	})})
	assert.JSONEq(t, `{"kind": "EndpointSlice", "endpoints": [{"addresses": ["<ip>"]}, {"addresses": ["192.0.2.7"]}]}`, n.text(slice))
}
