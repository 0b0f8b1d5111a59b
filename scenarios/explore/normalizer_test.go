package explore

import (
	"encoding/base64"
	"encoding/pem"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/journal"
	"github.com/kubefake/kubefake/internal/scrub"
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

// What is generated for an owner is in the names of what it owns.
func TestNamesUnderGeneratedOwners(t *testing.T) {
	o := &outcome{changes: []change{
		written("operator", "operator", "rayclusters.ray.io", dependentOf("RayCluster", "train", "train-x2x4z", nil)),
		written("operator", "operator", "pods", dependentOf("Pod", "train-x2x4z", "train-x2x4z-head", nil)),
		written("operator", "operator", "services", dependentOf("Service", "train-x2x4z", "train-x2x4z", nil)),
		written("operator", "operator", "services", dependentOf("Service", "web", "web-x2x4z1", nil)),
		written("operator", "operator", "services", dependentOf("Service", "train-x2x4z", "train-x2x4zz", nil)),
	}}
	o.summarize(bubblePace)
	var names []string
	for key := range o.final {
		names = append(names, key.String())
	}
	assert.ElementsMatch(t, []string{
		"rayclusters.ray.io default/train-*", "pods default/train-*-head", "services default/train-*", "services default/web-x2x4z1",
		"services default/train-x2x4zz",
	}, names)
}

// When an object has followed a change is no state.
func TestMeasures(t *testing.T) {
	n := newNormalizer(nil)
	annotated := func(annotations map[string]any) string {
		return n.text(fakeapi.Object{"metadata": map[string]any{"name": "a", "annotations": annotations}})
	}
	const at = "endpoints.kubernetes.io/last-change-trigger-time"
	assert.Equal(t, n.text(fakeapi.Object{"metadata": map[string]any{"name": "a"}}), annotated(map[string]any{at: "2026-11-29T08:30:02Z"}))
	assert.JSONEq(t, `{"metadata": {"name": "a", "annotations": {"b": "c"}}}`, annotated(map[string]any{at: "2026-11-29T08:30:02Z", "b": "c"}))
}

// Keys and certificates are random. Those that users have written are not.
func TestPEM(t *testing.T) {
	block := func(kind, content string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte(content)}))
	}
	inBase64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	text := func(value string) string {
		secret := fakeapi.Object{"kind": "Secret", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"tls.crt": value}}
		user := written("admin", "kubectl", "configmaps", fakeapi.Object{"metadata": map[string]any{"name": "ca"}, "data": map[string]any{"ca": block("CERTIFICATE", "of the user") + block("CERTIFICATE", "another")}})
		made := written("operator", "operator", "secrets", secret)
		made.system = true
		again := made // a user who changes an object has not written what is in it
		again.system = false
		o := &outcome{changes: []change{user, made, again}}
		n := newNormalizer(o.changes)
		n.given = o.givenPEM
		return n.text(secret)
	}
	assert.Equal(t, text(block("PRIVATE KEY", "1")), text(block("PRIVATE KEY", "2")), "random keys")
	assert.Equal(t, text(inBase64(block("CERTIFICATE", "1"))), text(inBase64(block("CERTIFICATE", "2"))), "random certificates in base64")
	for name, value := range map[string]string{
		"another type":     block("CERTIFICATE", "1"),
		"a chain":          block("PRIVATE KEY", "1") + block("PRIVATE KEY", "2"),
		"nothing":          "",
		"no PEM":           "-----BEGIN",
		"no PEM in base64": inBase64("-----BEGIN"),
		"no base64":        "LS0tLS1CRUdJTi",
	} {
		assert.NotEqual(t, text(block("PRIVATE KEY", "3")), text(value), name)
	}
	assert.NotEqual(t, text(block("CERTIFICATE", "of the user")), text(block("CERTIFICATE", "another")), "a user's certificate is copied")
	assert.NotEqual(t, text(inBase64(block("CERTIFICATE", "of the user"))), text(inBase64(block("CERTIFICATE", "1"))), "a user's certificate or another one")
}

// How many templates a controller has seen does not count. Which one is the newest does.
func TestRevisions(t *testing.T) {
	revision := func(name string, n int64) change {
		return written("controller", "controller", "controllerrevisions.apps", dependentOf("ControllerRevision", "db", name, map[string]any{"revision": n}))
	}
	set := func(name, n string, replicas int64) change {
		o := dependentOf("ReplicaSet", "web", name, map[string]any{"spec": map[string]any{"replicas": replicas}})
		o["metadata"].(map[string]any)["annotations"] = map[string]any{"deployment.kubernetes.io/revision": n, "deployment.kubernetes.io/revision-history": "1"}
		return written("controller", "controller", "replicasets.apps", o)
	}
	deployment := func(n string) change {
		return written("controller", "controller", "deployments.apps", fakeapi.Object{"kind": "Deployment", "metadata": map[string]any{
			"name": "web", "uid": "uid-of-web", "annotations": map[string]any{"deployment.kubernetes.io/revision": n},
		}})
	}
	for name, row := range map[string]struct {
		ref, run []change
		want     []string
	}{
		"a missed revision": {[]change{revision("db-a", 3), revision("db-b", 2)}, []change{revision("db-a", 1)}, nil},
		"no newest one": {[]change{revision("db-a", 3), revision("db-b", 2)}, []change{revision("db-b", 1)},
			[]string{"controllerrevisions.apps default/db-a", "controllerrevisions.apps default/db-b"}},
		"one too many": {[]change{revision("db-a", 3)}, []change{revision("db-a", 3), revision("db-b", 2)}, []string{"controllerrevisions.apps default/db-b"}},
		"another newest one": {[]change{revision("db-a", 3), revision("db-b", 2)}, []change{revision("db-a", 1), revision("db-b", 2)},
			[]string{"controllerrevisions.apps default/db-a", "controllerrevisions.apps default/db-b"}},
		"a missed ReplicaSet": {[]change{deployment("3"), set("web-a", "3", 2), set("web-b", "2", 0)}, []change{deployment("1"), set("web-a", "1", 2)}, nil},
		"one that runs Pods":  {[]change{deployment("3"), set("web-a", "3", 2), set("web-b", "2", 1)}, []change{deployment("1"), set("web-a", "1", 2)}, []string{"replicasets.apps default/web-b"}},
		"an old Deployment":   {[]change{deployment("3"), set("web-a", "3", 2)}, []change{deployment("2"), set("web-a", "3", 2)}, []string{"deployments.apps default/web"}},
	} {
		t.Run(name, func(t *testing.T) {
			final := func(changes []change) map[objectKey][]ended {
				o := &outcome{changes: changes}
				o.summarize(bubblePace)
				return o.final
			}
			j := &judgement{system: &System{}, scrubber: scrub.ForReaders()}
			j.states(EndState, final(row.run), final(row.ref))
			var got []string
			for _, v := range j.violations {
				got = append(got, v.Subject)
			}
			assert.Equal(t, row.want, got)
		})
	}
}
