package fieldmanager

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

func TestMerge(t *testing.T) {
	pod := builtin(t, "", "v1", "Pod")
	const live = `
metadata: {labels: {a: b}, managedFields: [{manager: m, fieldsV1: {"f:spec": {}}}]}
spec:
  containers:
  - {name: c, image: i, args: [x]}
  - {name: d, image: i}
`
	for _, tt := range []struct{ name, applied, want, failure string }{
		{"labels", `metadata: {labels: {c: d}}`, `
metadata: {labels: {a: b, c: d}, managedFields: [{manager: m, fieldsV1: {"f:spec": {}}}]}
spec: {containers: [{name: c, image: i, args: [x]}, {name: d, image: i}]}
`, ""},
		{"containers by name", `spec: {containers: [{name: d, image: j}, {name: e, image: k}]}`, `
metadata: {labels: {a: b}, managedFields: [{manager: m, fieldsV1: {"f:spec": {}}}]}
spec: {containers: [{name: c, image: i, args: [x]}, {name: d, image: j}, {name: e, image: k}]}
`, ""},
		{"atomic list", `spec: {containers: [{name: c, args: [z]}]}`, "", "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.containers[0].args"},
		{"unknown field", `spec: {replicas: 1}`, "", "failed to convert patch object to typed object: .spec.replicas: field not declared in schema"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj, applied := parse(t, live), parse(t, tt.applied)
			for _, o := range []map[string]any{obj, applied} {
				o["kind"], o["apiVersion"] = "Pod", "v1"
			}
			before := object.Copy(obj)
			got, err := pod.Merge(obj, applied)
			assert.Equal(t, before, obj, "Merge must not change the live object")
			if tt.failure != "" {
				assert.EqualError(t, err, tt.failure)
				return
			}
			require.NoError(t, err)
			want := parse(t, tt.want)
			want["kind"], want["apiVersion"] = "Pod", "v1"
			assert.Equal(t, want, got)
		})
	}
}
