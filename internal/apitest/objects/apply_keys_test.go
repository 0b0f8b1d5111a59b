package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
	"github.com/kubefake/kubefake/internal/object"
)

// An element of a list with keys may omit some of them since Kubernetes 1.34. The answers of
// 1.36 were recorded from kube-apiserver v1.36.3; 1.33 has structured-merge-diff v4.
func TestApplyWithoutKeys(t *testing.T) {
	const (
		crd = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ks.x.io}, spec: {group: x.io, scope: Cluster, names: {plural: ks, singular: k, kind: K, listKind: KList},
			versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {l: {type: array,
			x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b], items: {type: object, required: [a, b], properties: {a: {type: string}, b: {type: string}, v: {type: string}}}}}}}}}}]}}`
		typed = "failed to create typed patch object (/x; x.io/v1, Kind=K): .spec.l: "
	)
	for _, tt := range []struct{ name, release, list, message string }{
		{"one key", "1.36", `[{"a":"x"}]`, `K.x.io "x" is invalid: spec.l[0].b: Required value`},
		{"one key in two elements", "1.36", `[{"a":"x"},{"a":"x","b":"y"}]`, `K.x.io "x" is invalid: spec.l[0].b: Required value`},
		{"no key", "1.36", `[{"v":"x"}]`, typed + `element 0: associative list with keys has an element that omits all key fields ["a" "b"] (and doesn't have default values for any key fields)`},
		{"one key twice", "1.36", `[{"a":"x"},{"a":"x"}]`, typed + `duplicate entries for key [a="x"]`},
		{"another key twice", "1.36", `[{"b":"x"},{"b":"x","v":"y"}]`, typed + `duplicate entries for key [b="x"]`},
		{"a key that is null", "1.36", `[{"a":"x","b":null,"v":true}]`, `failed to create typed patch object (/x; x.io/v1, Kind=K): .spec.l[a="x",b=null].v: expected string, got &value.valueUnstructured{Value:true}`},
		{"a key that is null and one that is absent", "1.36", `[{"a":null,"v":true}]`, `failed to create typed patch object (/x; x.io/v1, Kind=K): .spec.l[a=null].v: expected string, got &value.valueUnstructured{Value:true}`},
		{"no list", "1.36", `"5%"`, typed + `expected list, got &{5%}`},
		{"one key of an old release", "1.33", `[{"a":"x"}]`, typed + `element 0: associative list with keys has an element that omits key field "b" (and doesn't have default value)`},
		{"no list of an old release", "1.33", `"5%"`, typed + `expected list, got &{5%!}(MISSING)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(tt.release), fakeapi.WithObjects(crd))
			_, answer := apitest.DoWithHeaders(t, srv, "PATCH", "/apis/x.io/v1/ks/x?fieldManager=m", `{"apiVersion":"x.io/v1","kind":"K","metadata":{"name":"x"},"spec":{"l":`+tt.list+`}}`,
				"Content-Type", "application/apply-patch+yaml")
			assert.Equal(t, tt.message, answer["message"])
		})
	}
}

// An object that was stored without managed fields, and with a list whose elements have no key,
// cannot be applied to. Recorded from kube-apiserver v1.36.3.
func TestApplyToListWithoutKeys(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a","namespace":"default"},"secrets":[{"kind":"Pod"}]}`))
	code, answer := apitest.DoWithHeaders(t, srv, "PATCH", "/api/v1/namespaces/default/serviceaccounts/a?fieldManager=m", `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a"}}`,
		"Content-Type", "application/apply-patch+yaml")
	assert.Equal(t, 500, code)
	assert.Equal(t, `failed to create manager for existing fields: failed to convert new object (default/a; /v1, Kind=ServiceAccount) to smd typed: .secrets: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`, answer["message"])
}

// A manager that leaves out an element which it has applied without one of the keys removes it: the
// shareID of the devices of a ResourceClaim is a key, and optional.
func TestRemoveAppliedWithoutKey(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
	code, answer := apitest.Do(t, srv, "POST", claims, `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c"},
		"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"d"}}]}}}`)
	require.Equal(t, 201, code, answer)
	const a, b = `{"driver":"x.io","pool":"p","device":"a"}`, `{"driver":"x.io","pool":"p","device":"b"}`
	code, answer = apitest.DoWithHeaders(t, srv, "PATCH", claims+"/c/status", `{"status":{"allocation":{"devices":{"results":[{"request":"r",`+a[1:]+`,{"request":"r",`+b[1:]+`]}}}}`,
		"Content-Type", "application/merge-patch+json")
	require.Equal(t, 200, code, answer)
	for _, tt := range []struct {
		applied string
		want    []string
	}{{a + "," + b, []string{"a", "b"}}, {b, []string{"b"}}, {"", nil}} {
		code, answer := apitest.DoWithHeaders(t, srv, "PATCH", claims+"/c/status?fieldManager=m", `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c"},"status":{"devices":[`+tt.applied+`]}}`,
			"Content-Type", "application/apply-patch+yaml")
		require.Equal(t, 200, code, answer)
		var got []string
		for device := range object.Each(object.List(answer, "status", "devices")) {
			got = append(got, object.String(device, "device"))
		}
		assert.Equal(t, tt.want, got, tt.applied)
	}
}

// An element without keys may be valid in the version of a configuration, and not in that of another
// manager. The error is that of the conversion. Recorded from kube-apiserver v1.37.2.
func TestApplyWithoutKeysOfAnotherVersion(t *testing.T) {
	version := func(name, storage, keys, port string) string {
		return `{name: ` + name + `, served: true, storage: ` + storage + `, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {l: {type: array, x-kubernetes-list-type: map,
			x-kubernetes-list-map-keys: ` + keys + `, items: {type: object, required: [name], properties: {name: {type: string}, port: ` + port + `}}}}}}}}}`
	}
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ks.y.io}, spec: {group: y.io, scope: Cluster,
		names: {plural: ks, singular: k, kind: K, listKind: KList}, versions: [`+
		version("v1", "true", "[name]", "{type: integer}")+", "+version("v1beta1", "false", "[name, port]", "{type: integer, default: 1}")+`]}}`))
	const noKey = `.spec.l: element 2: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`
	for _, tt := range []struct{ version, manager, list, message string }{
		{"v1", "m1", `[{"name":"a"}]`, ""},
		{"v1beta1", "m2", `[{"name":"x"}]`, ""},
		{"v1beta1", "m2", `[{}]`, "failed to prune fields: failed add back owned items: failed to convert merged object at version y.io/v1: " + noKey},
		{"v1beta1", "m3", `[{}]`, "failed to convert new object: " + noKey},
	} {
		code, answer := apitest.DoWithHeaders(t, srv, "PATCH", "/apis/y.io/"+tt.version+"/ks/x?fieldManager="+tt.manager+"&force=true",
			`{"apiVersion":"y.io/`+tt.version+`","kind":"K","metadata":{"name":"x"},"spec":{"l":`+tt.list+`}}`, "Content-Type", "application/apply-patch+yaml")
		if tt.message == "" {
			require.Less(t, code, 300, answer)
			continue
		}
		assert.Equal(t, 500, code)
		assert.Equal(t, tt.message, answer["message"])
	}
}
