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

func TestMergeSharesWhatItDoesNotChange(t *testing.T) {
	pod := builtin(t, "", "v1", "Pod")
	live := parse(t, `
apiVersion: v1
kind: Pod
metadata: {labels: {a: b}, finalizers: [x, y]}
spec:
  nodeSelector: {a: b}
  containers: [{name: c, image: i, args: [x], ports: [{containerPort: 80, protocol: TCP}]}, {name: d, image: i}]
`)
	var w walker
	merge := func(t *testing.T, applied string) map[string]any {
		before := object.Copy(live)
		merged, err := w.merge(pod.compiled().types, live, parse(t, applied))
		require.NoError(t, err)
		assert.Equal(t, before, live)
		return merged.(map[string]any)
	}
	for _, applied := range []string{
		`{}`, `{kind: Pod}`, `metadata: {labels: {a: b}}`, `metadata: {labels: {}, finalizers: []}`, `metadata: {finalizers: [x]}`,
		`spec: {nodeSelector: {a: b}}`, `spec: {containers: [{name: c, args: [x], ports: [{containerPort: 80, protocol: TCP}]}]}`,
	} {
		assert.True(t, object.Same(live, merge(t, applied)), applied)
	}
	merged := merge(t, `spec: {containers: [{name: d, image: j}]}`)
	assert.True(t, object.Same(live["metadata"], merged["metadata"]))
	was, is := object.List(live, "spec", "containers"), object.List(merged, "spec", "containers")
	assert.True(t, object.Same(was[0], is[0]))
	assert.False(t, object.Same(was[1], is[1]))
}
