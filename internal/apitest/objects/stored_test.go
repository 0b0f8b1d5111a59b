package objects_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

const namespaced = "/api/v1/namespaces/default/"

// A PersistentVolumeClaim gets defaults when it is read. The first update stores
// them, so it is a write even if the client changes nothing.
func TestFirstUpdateOfClaim(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	versions := []any{}
	write := func(method, path, body string) {
		_, obj := apitest.Do(t, srv, method, namespaced+path, body)
		require.Equal(t, "Pending", member(obj, "status", "phase"), obj)
		versions = append(versions, member(obj, "metadata", "resourceVersion"))
	}
	write("POST", "persistentvolumeclaims", `{"metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`)
	write("PATCH", "persistentvolumeclaims/a", `{}`)
	write("PATCH", "persistentvolumeclaims/a", `{}`)
	assert.NotEqual(t, versions[0], versions[1])
	assert.Equal(t, versions[1], versions[2])
}

// The capacity of a Node is allocatable when it is read, if no resources are. The write after a
// status without them stores that.
func TestUpdateAfterEmptyAllocatable(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	apitest.Do(t, srv, "POST", "/api/v1/nodes", `{"metadata":{"name":"a"}}`)
	versions := []any{}
	write := func(path, body string) {
		_, obj := apitest.Do(t, srv, "PATCH", "/api/v1/nodes/"+path, body)
		require.Equal(t, map[string]any{"cpu": "1"}, member(obj, "status", "allocatable"), obj)
		versions = append(versions, member(obj, "metadata", "resourceVersion"))
	}
	write("a/status", `{"status":{"capacity":{"cpu":"1"},"allocatable":{}}}`)
	write("a", `{}`)
	write("a", `{}`)
	assert.NotEqual(t, versions[0], versions[1])
	assert.Equal(t, versions[1], versions[2])
}

// A dry run returns the resourceVersion of the request.
func TestResourceVersionOfDryRun(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, version := range []string{"abc", "0", "12"} {
		code, obj := apitest.Do(t, srv, "POST", namespaced+"configmaps?dryRun=All", `{"metadata":{"name":"a","resourceVersion":"`+version+`"}}`)
		assert.Equal(t, 201, code)
		assert.Equal(t, version, member(obj, "metadata", "resourceVersion"))
	}
}

// A LimitRange needs no name. A Service needs one for its cluster IP.
func TestMissingName(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	code, obj := apitest.Do(t, srv, "POST", namespaced+"limitranges", `{"spec":{"limits":[]}}`)
	assert.Equal(t, 201, code)
	assert.Len(t, member(obj, "metadata", "name"), 36)

	code, obj = apitest.Do(t, srv, "POST", namespaced+"services", `{"spec":{"clusterIP":"10.0.0.7","ports":[{"port":80}]}}`)
	assert.Equal(t, 422, code)
	assert.Equal(t, `Service "" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.7"]: failed to allocate IP 10.0.0.7: `+
		`IPAddress.networking.k8s.io "10.0.0.7" is invalid: spec.parentRef.name: Required value`, obj["message"])

	code, obj = apitest.Do(t, srv, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", `{"spec":{"minAvailable":-1}}`)
	assert.Equal(t, 422, code)
	assert.Equal(t, `PodDisruptionBudget.policy "" is invalid: spec.minAvailable: Invalid value: -1: must be greater than or equal to 0`, obj["message"])
}

// Owner references are duplicates only if all their fields are equal.
func TestDuplicateOwners(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const p, q = `{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}`, `{"apiVersion":"v1","kind":"Pod","name":"q","uid":"u"}`
	_, obj := apitest.Do(t, srv, "POST", namespaced+"configmaps", `{"metadata":{"name":"a","ownerReferences":[`+p+`,`+q+`,`+p+`]}}`)
	assert.Len(t, member(obj, "metadata", "ownerReferences"), 2)
}

// A DaemonSet shows its template generation as an annotation, which is not stored.
func TestDerivedAnnotation(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const path = "/apis/apps/v1/namespaces/default/daemonsets"
	code, obj := apitest.Do(t, srv, "POST", path, `{"metadata":{"name":"a","annotations":{"b":"c"}},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	require.Equal(t, 201, code, obj)
	assert.Equal(t, map[string]any{"b": "c", "deprecated.daemonset.template.generation": "1"}, member(obj, "metadata", "annotations"))

	req, err := http.NewRequest("GET", srv.URL+path+"/a", nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"b": "c"}, member(apitest.Answer(t, resp), "metadata", "annotations"))
}

// A review that fails keeps the status of the request.
func TestStatusOfFailedReview(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	code, obj := apitest.Do(t, srv, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"none"},"status":{"authenticated":true,"user":{"username":"u"}}}`)
	assert.Equal(t, 201, code)
	assert.Equal(t, map[string]any{"user": map[string]any{"username": "u"}, "error": "invalid bearer token"}, obj["status"])
}

// The finalize subresource of a Namespace adds no field of the status to managed
// fields.
func TestManagedFieldsOfFinalizedNamespace(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const path = "/api/v1/namespaces/default/finalize"
	code, obj := apitest.Do(t, srv, "PUT", path, `{"metadata":{"name":"default"},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Odd"}}`)
	require.Equal(t, 200, code, obj)
	assert.Equal(t, "Active", member(obj, "status", "phase"))
	entries, _ := member(obj, "metadata", "managedFields").([]any)
	for _, e := range entries {
		assert.NotContains(t, member(e.(map[string]any), "fieldsV1"), "f:status")
	}
}

// member returns the value at a path of an object.
func member(obj map[string]any, path ...string) any {
	var v any = obj
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}
