package fieldmanager

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/kubefake/kubefake/internal/object"
)

// An object with several faults has all errors of its known fields, and in each object the first
// field that is not declared.
func TestTypeErrors(t *testing.T) {
	for _, tt := range []struct{ name, kind, obj, want string }{
		{"unknown field", "Service", `{b: 1, a: 1}`, ".a: field not declared in schema"},
		{"duplicates and an unknown field", "Service", `{unknown: 1, spec: {ports: [{port: 80}, {port: 80}]}}`,
			"errors:\n  .spec.ports: duplicate entries for key [port=80,protocol=\"TCP\"]\n  .unknown: field not declared in schema"},
		{"unknown fields at several depths", "Service", `{unknown: 1, spec: {other: 1, ports: [{port: 80, x: 1}]}}`,
			"errors:\n  .spec.ports[port=80,protocol=\"TCP\"].x: field not declared in schema\n  .spec.other: field not declared in schema\n  .unknown: field not declared in schema"},
		{"wrong types", "Service", `{spec: {clusterIP: 1, publishNotReadyAddresses: x, ports: x, selector: [], healthCheckNodePort: "80"}}`,
			"errors:\n  .spec.clusterIP: expected string, got &value.valueUnstructured{Value:1}\n  .spec.healthCheckNodePort: expected numeric (int or float), got string\n" +
				"  .spec.ports: expected list, got &{x}\n  .spec.publishNotReadyAddresses: expected boolean, got &{x}\n  .spec.selector: expected map, got &{[]}"},
		{"integers in paths", "ConfigMap", `{metadata: {finalizers: [1099511627776]}}`,
			".metadata.finalizers[=1099511627776]: expected string, got &value.valueUnstructured{Value:1099511627776}"},
		{"integers in keys that are no scalars", "Pod", `{spec: {volumes: [{name: [1099511627776]}], containers: [{name: {a: 1}}]}}`,
			"errors:\n  .spec.containers[name=a=1].name: expected string, got &value.valueUnstructured{Value:map[string]interface {}{\"a\":1}}\n" +
				"  .spec.volumes[name=[1099511627776]].name: expected string, got &value.valueUnstructured{Value:[]interface {}{1099511627776}}"},
		{"percents", "ConfigMap", `{data: {a%d: [x%s]}}`, `.data.a%d: expected string, got &value.valueUnstructured{Value:[]interface {}{"x%s"}}`},
		{"elements that are no objects", "Pod", `{spec: {containers: [x], initContainers: [null]}, metadata: {finalizers: [{}]}}`,
			"errors:\n  .metadata.finalizers: element 0: associative list without keys has an element that's a map type\n" +
				"  .spec.containers: element 0: associative list with keys may not have non-map elements\n  .spec.initContainers: element 0: associative list with keys may not have a null element"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := builtin(t, "", "v1", tt.kind)
			obj := parse(t, tt.obj)
			errs := k.compiled().types.errors(obj, false)
			assert.EqualError(t, errs, tt.want)
			_, err := k.asTyped(object.Copy(obj))
			require.Error(t, err)
			assert.EqualError(t, err, tt.want)
			assert.IsType(t, typed.ValidationErrors{}, err)
		})
	}
}
