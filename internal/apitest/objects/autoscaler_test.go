package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
	"github.com/kubefake/kubefake/internal/object"
)

// An autoscaler in version v1 has its other metrics in annotations, and without an order. What a write in
// v1 does not change keeps the form that it has in version v2.
func TestAutoscalerWrittenInV1(t *testing.T) {
	const (
		path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers/a"
		v2   = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
		body = `{"metadata":{"name":"a"},"spec":{"minReplicas":1,"maxReplicas":4,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"metrics":[
			{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":60}}},
			{"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"1Mi"}}}]}}`
		measured = `{"status":{"currentReplicas":1,"desiredReplicas":1,"currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":10}}}]}}`
		merge    = "application/merge-patch+json"
		apply    = "application/apply-patch+yaml"
		head     = `"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler"`
	)
	for _, r := range []struct {
		name, path, format, patch string
		unowned                   bool  // whether the managed fields are removed before
		metrics                   []any // the names of those in the spec
		value                     any   // averageValue of the one in the status
		generation                any
	}{
		{"status", path + "/status", merge, `{"status":{"currentReplicas":3}}`, false, []any{"cpu", "memory"}, "0", 1.0},
		{"metadata", path, merge, `{"metadata":{"labels":{"a":"b"}}}`, false, []any{"memory", "cpu"}, nil, 2.0},
		{"nothing", path, merge, `{}`, false, []any{"memory", "cpu"}, nil, 2.0},
		{"nothing applied", path + "?fieldManager=n", apply, `{` + head + `,"metadata":{"name":"a"}}`, false, []any{"cpu", "memory"}, nil, 1.0},
		{"nothing applied to what nobody owns", path + "?fieldManager=n", apply, `{` + head + `,"metadata":{"name":"a"}}`, true, []any{"cpu", "memory"}, nil, 1.0},
		{"metadata applied", path + "?fieldManager=n", apply, `{` + head + `,"metadata":{"name":"a","labels":{"a":"b"}}}`, false, []any{"memory", "cpu"}, nil, 2.0},
		{"status applied", path + "/status?fieldManager=n&force=true", apply, `{` + head + `,"metadata":{"name":"a"},"status":{"currentReplicas":3}}`, false, []any{"cpu", "memory"}, "0", 1.0},
	} {
		t.Run(r.name, func(t *testing.T) {
			srv := fakeapi.Start(t)
			code, answer := apitest.Do(t, srv, "POST", v2, body)
			require.Equal(t, 201, code, answer)
			code, answer = apitest.DoWithHeaders(t, srv, "PATCH", v2+"/a/status?fieldManager=m", measured, "Content-Type", merge)
			require.Equal(t, 200, code, answer)

			if r.unowned {
				code, answer = apitest.DoWithHeaders(t, srv, "PATCH", v2+"/a", `{"metadata":{"managedFields":[{}]}}`, "Content-Type", merge)
				require.Equal(t, 200, code, answer)
			}
			code, answer = apitest.DoWithHeaders(t, srv, "PATCH", r.path, r.patch, "Content-Type", r.format)
			require.Less(t, code, 300, answer)
			_, answer = apitest.Do(t, srv, "GET", v2+"/a", "")
			var names []any
			for m := range object.Each(object.Value(answer, "spec", "metrics")) {
				names = append(names, object.Value(m, "resource", "name"))
			}
			assert.Equal(t, r.metrics, names)
			assert.Equal(t, r.generation, object.Value(answer, "metadata", "generation"))
			for m := range object.Each(object.Value(answer, "status", "currentMetrics")) {
				assert.Equal(t, r.value, object.Value(m, "resource", "current", "averageValue"))
			}
		})
	}
}
