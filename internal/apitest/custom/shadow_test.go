package custom_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// A version that has built-in resources serves no others of a definition. Another version of
// the group does.
func TestDefinitionInBuiltinGroup(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foos.networking.k8s.io
  annotations: {api-approved.kubernetes.io: "unapproved, test-only"}
spec:
  group: networking.k8s.io
  scope: Cluster
  names: {plural: foos, kind: Foo}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v7, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
`))
	for _, row := range []struct {
		name, version string
		want          int
		listed        bool
	}{{"built-in version", "v1", 404, false}, {"another version", "v7", 200, true}} {
		t.Run(row.name, func(t *testing.T) {
			code, _ := apitest.Do(t, srv, "GET", "/apis/networking.k8s.io/"+row.version+"/foos", "")
			assert.Equal(t, row.want, code)
			code, list := apitest.Do(t, srv, "GET", "/apis/networking.k8s.io/"+row.version, "")
			require.Equal(t, 200, code)
			listed := false
			for _, r := range list["resources"].([]any) {
				listed = listed || r.(map[string]any)["name"] == "foos"
			}
			assert.Equal(t, row.listed, listed)
		})
	}
}
