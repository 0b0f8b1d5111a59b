package fieldmanager

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

func TestIgnoreTimestamps(t *testing.T) {
	configMap := builtin(t, "", "v1", "ConfigMap")
	const live = `
metadata:
  labels: {a: b}
  managedFields:
  - {manager: m, time: "2026-01-01T00:00:00Z", fieldsV1: {"f:a": {}}}
  - {manager: n, fieldsV1: {"f:b": {}}}
data: {a: b}
`
	for _, test := range []struct {
		name, obj string
		keeps     bool
	}{
		{"nothing", live, false},
		{"a time", `
metadata:
  labels: {a: b}
  managedFields:
  - {manager: m, time: "2026-01-01T00:00:01Z", fieldsV1: {"f:a": {}}}
  - {manager: n, time: "2026-01-01T00:00:01Z", fieldsV1: {"f:b": {}}}
data: {a: b}
`, true},
		{"a time and empty values", `
metadata:
  labels: {a: b}
  finalizers: []
  managedFields:
  - {manager: m, time: "2026-01-01T00:00:01Z", fieldsV1: {"f:a": {}}}
  - {manager: n, fieldsV1: {"f:b": {}}}
data: {a: b}
`, true},
		{"a time and the object", `
metadata:
  labels: {a: b}
  managedFields:
  - {manager: m, time: "2026-01-01T00:00:01Z", fieldsV1: {"f:a": {}}}
  - {manager: n, fieldsV1: {"f:b": {}}}
data: {a: c}
`, false},
		{"a time and the metadata", `
metadata:
  managedFields:
  - {manager: m, time: "2026-01-01T00:00:01Z", fieldsV1: {"f:a": {}}}
  - {manager: n, fieldsV1: {"f:b": {}}}
data: {a: b}
`, false},
		{"a time and a set", `
metadata:
  labels: {a: b}
  managedFields:
  - {manager: m, time: "2026-01-01T00:00:01Z", fieldsV1: {"f:c": {}}}
  - {manager: n, fieldsV1: {"f:b": {}}}
data: {a: b}
`, false},
		{"an entry fewer", `
metadata:
  labels: {a: b}
  managedFields:
  - {manager: m, time: "2026-01-01T00:00:01Z", fieldsV1: {"f:a": {}}}
data: {a: b}
`, false},
		{"no entries", `{metadata: {labels: {a: b}}, data: {a: b}}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			live, obj := parse(t, live), parse(t, test.obj)
			managed := obj["metadata"].(map[string]any)["managedFields"]
			if test.keeps {
				managed = live["metadata"].(map[string]any)["managedFields"]
			}
			want := object.Copy(obj)
			object.Set(want, managed, "metadata", "managedFields")
			if managed == nil {
				delete(object.Meta(want), "managedFields")
			}
			assert.Equal(t, want, configMap.IgnoreTimestamps(object.ViewOf(live), obj))
			assert.Equal(t, parse(t, test.obj), obj, "the object must not change")
		})
	}
	obj := parse(t, live)
	assert.Equal(t, obj, configMap.IgnoreTimestamps(object.View{}, obj), "create")
}
