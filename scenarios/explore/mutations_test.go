package explore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, maximum: 3}
              paused: {type: boolean}
              color: {type: string, enum: [red, green]}
              ports: {type: array, items: {type: integer}}
              limits: {type: object, properties: {cpu: {type: string}}}
`

func TestMutations(t *testing.T) {
	needsBubble(t)
	dir := t.TempDir()
	crd, sample := filepath.Join(dir, "crd.yaml"), filepath.Join(dir, "sample.yaml")
	require.NoError(t, os.WriteFile(crd, []byte(widgets), 0o666))
	require.NoError(t, os.WriteFile(sample, []byte(`
apiVersion: shop.example.com/v1
kind: Widget
metadata: {name: a}
spec: {size: 3, color: red, ports: [80]}
`), 0o666))
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithCRDs(os.DirFS(dir), "crd.yaml"))
	bubble(t, func() {
		f, err := srv.NewFork()
		require.NoError(t, err)
		defer f.Close()
		before := f.Revision()
		require.NoError(t, explore.Mutations(crd, sample)(context.Background(), f))
		specs := map[string]bool{}
		writes := f.Writes(before + 1)
		var first, last string
		for _, w := range writes {
			o, err := f.Get("widgets.shop.example.com", "default", "a", fakeapi.AtRevision(w.Revision))
			require.NoError(t, err)
			last = fmt.Sprint(o["spec"])
			if first == "" {
				first = last
			}
			specs[last] = true
		}
		assert.Equal(t, first, last, "each change is reverted")
		assert.Equal(t, map[string]bool{
			"map[color:red ports:[80] size:3]":                   true,
			"map[color:green ports:[80] size:3]":                 true,
			"map[ports:[80] size:3]":                             true,
			"map[color:red limits:map[cpu:x] ports:[80] size:3]": true,
			"map[color:red paused:true ports:[80] size:3]":       true,
			"map[color:red ports:[80 81] size:3]":                true,
			"map[color:red ports:[] size:3]":                     true,
			"map[color:red size:3]":                              true,
			"map[color:red ports:[80] size:2]":                   true,
			"map[color:red ports:[80] size:1]":                   true,
		}, specs)
	})
	err := explore.Mutations(crd, filepath.Join(dir, "none.yaml"))(context.Background(), srv)
	assert.ErrorIs(t, err, os.ErrNotExist)
}
