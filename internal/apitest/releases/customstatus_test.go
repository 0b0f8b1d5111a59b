package releases_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// TestNullStatus checks which releases accept a null in place of a status that is absent.
func TestNullStatus(t *testing.T) {
	for release, want := range map[string]int{"1.32": 422, "1.33": 200} {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(release), fakeapi.WithObjects(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.ex.io}
spec:
  group: ex.io
  names: {kind: Foo, plural: foos}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, properties: {n: {type: string}}}}}}
`))
		const path = "/apis/ex.io/v1/namespaces/default/foos"
		apitest.Do(t, srv, "POST", path, `{"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"a"}}`)
		code, obj := apitest.DoWithHeaders(t, srv, "PATCH", path+"/a/status?fieldManager=m", `{"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"a"},"status":null}`,
			"Content-Type", "application/apply-patch+yaml")
		assert.Equal(t, want, code, "%s: %s", release, obj)
		if want == 422 {
			assert.Equal(t, `Foo.ex.io "a" is invalid: status: Invalid value: "null":  in body must be of type object: "null"`, obj["message"])
		}
	}
}
