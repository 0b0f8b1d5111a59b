package fieldmanager

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

// TestValidateKeys removes each field of an object, and checks that validateKeys finds the
// elements without keys that validate finds.
func TestValidateKeys(t *testing.T) {
	k := custom(t, `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  defaulted:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name, protocol]
    items:
      type: object
      properties: {name: {type: string, default: a}, protocol: {type: string, default: TCP}}
  nested:
    type: object
    additionalProperties:
      type: array
      items:
        type: object
        properties:
          map:
            type: array
            x-kubernetes-list-type: map
            x-kubernetes-list-map-keys: [name]
            items: {type: object, properties: {name: {type: string}, port: {type: integer}}}
`)
	obj := parse(t, `
defaulted: [{name: a}, {protocol: UDP}]
nested: {a: [{map: [{name: a, port: 1}]}, {map: [{name: a, port: 1}, {name: b, port: 2}]}]}
`)
	root := k.compiled().types
	var w walker
	require.NoError(t, w.validateKeys(root, obj))
	var invalid []string
	object.All(obj, func(_ string, v any) bool {
		members, _ := v.(map[string]any)
		for name, v := range maps.Clone(members) {
			delete(members, name)
			want := w.validate(root, obj, true)
			assert.Equal(t, want, w.validateKeys(root, obj), "without %s", name)
			if want != nil {
				invalid = append(invalid, name)
			}
			members[name] = v
		}
		return true
	})
	assert.Equal(t, []string{"name", "name", "name"}, invalid)
}
