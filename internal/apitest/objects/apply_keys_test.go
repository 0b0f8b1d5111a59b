package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
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
