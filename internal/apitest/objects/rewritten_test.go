package objects_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// TestListsWrittenAgain creates an object, replaces it by the same body, and patches its labels,
// each as another manager. kube-apiserver compares lists that are owned as a whole in Go, where
// quantities differ by the text that they hold. Recorded from kube-apiserver v1.36.3.
func TestListsWrittenAgain(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	type row struct{ value, owner, patched string }
	for _, kind := range []struct {
		name, path, body, field string
		rows                    []row
	}{
		{"quantities in a map", "/api/v1/namespaces/default/limitranges",
			`{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"a"},"spec":{"limits":[{"type":"Container","max":{"memory":%s}}]}}`, "f:limits",
			[]row{
				{`"1024Ki"`, "b", "b"}, {`"8Mi"`, "a", "a"}, {`"1Mi"`, "a", "a"}, {`"1000"`, "b", "b"}, {`1000`, "b", "b"}, {`"1k"`, "a", "a"},
				{`"0.5"`, "b", "b"}, {`"500m"`, "a", "a"}, {`"0"`, "a", "a"}, {`"1.5Gi"`, "b", "b"}, {`"1536Mi"`, "a", "a"}, {`"1024Mi"`, "b", "b"},
				{`"16Mi"`, "a", "a"}, {`"0Mi"`, "b", "b"}, {`"12345678901234567890123"`, "a", "a"},
			}},
		{"quantities in a field", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
			`{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},
				"metrics":[{"type":"Pods","pods":{"metric":{"name":"x"},"target":{"type":"AverageValue","averageValue":%s}}}]}}`, "f:metrics",
			[]row{{`"1024Ki"`, "b", "b"}, {`"8Mi"`, "b", "c"}, {`"1Mi"`, "a", "a"}, {`"0.5"`, "b", "b"}, {`"500m"`, "a", "a"}, {`"1.5Gi"`, "b", "c"}}},
		{"quantities of a template", "/apis/apps/v1/namespaces/default/statefulsets",
			`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"a"},"spec":{"serviceName":"x","selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}},
				"volumeClaimTemplates":[{"metadata":{"name":"v"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":%s}}}}]}}`, "f:volumeClaimTemplates",
			[]row{{`"1Gi"`, "a", "a"}, {`"1024Mi"`, "b", "b"}, {`"8Gi"`, "a", "a"}}},
		{"a template beside empty lists", "/apis/apps/v1/namespaces/default/statefulsets",
			`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"a"},"spec":{"serviceName":"x","selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"tolerations":[],"containers":[{"name":"c","image":"i"}]}},
				"volumeClaimTemplates":[{"metadata":{"name":"v"%s},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]}}`, "f:volumeClaimTemplates",
			[]row{{``, "a", "a"}, {`,"labels":{}`, "b", "b"}}},
		{"times in a list", "/apis/resource.k8s.io/v1/resourceslices",
			`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"a"},"spec":{"driver":"d","nodeName":"n","pool":{"name":"p","resourceSliceCount":1,"generation":1},"devices":[{"name":"d","taints":[{"key":"k","effect":"NoExecute","timeAdded":%s}]}]}}`, "f:devices",
			[]row{{`"2020-01-02T03:04:05Z"`, "a", "a"}, {`"2020-01-02T03:04:05.5Z"`, "b", "b"}, {`"2020-01-02T03:04:05.0Z"`, "a", "a"}, {`"2020-01-02T04:04:05+01:00"`, "a", "a"}}},
		{"empty lists and maps", "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
			`{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"a"},"spec":{"podSelector":{},"ingress":[%s]}}`, "f:ingress",
			[]row{{`{"from":[],"ports":[]}`, "b", "b"}, {`{"from":[{"podSelector":{"matchLabels":{}}}]}`, "b", "b"}, {`{"from":[{"podSelector":{}}]}`, "a", "a"}, {`{}`, "a", "a"}}},
	} {
		for _, r := range kind.rows {
			t.Run(kind.name+" "+r.value, func(t *testing.T) {
				owner := func(method, path, body string) string {
					code, obj := apitest.Do(t, srv, method, kind.path+path, body)
					require.Contains(t, []int{200, 201}, code, obj)
					for _, e := range obj["metadata"].(map[string]any)["managedFields"].([]any) {
						if fields, _ := json.Marshal(e.(map[string]any)["fieldsV1"]); strings.Contains(string(fields), fmt.Sprintf("%q:{}", kind.field)) {
							return e.(map[string]any)["manager"].(string)
						}
					}
					return ""
				}
				body := fmt.Sprintf(kind.body, r.value)
				defer apitest.Do(t, srv, "DELETE", kind.path+"/a", "")
				assert.Equal(t, "a", owner("POST", "?fieldManager=a", body))
				assert.Equal(t, r.owner, owner("PUT", "/a?fieldManager=b", body))
				assert.Equal(t, r.patched, owner("PATCH", "/a?fieldManager=c", `{"metadata":{"labels":{"x":"y"}}}`))
			})
		}
	}
}

// TestQuantitiesOfJSONPatches writes a quantity again in a JSON patch, as another manager than that
// of the object. Recorded from kube-apiserver v1.37.2.
func TestQuantitiesOfJSONPatches(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const (
		path = "/api/v1/namespaces/default/limitranges"
		body = `{"metadata":{"name":"a"},"spec":{"limits":[{"type":"Container","max":{"cpu":"1","example.com/gpu":"1Mi"}}]}}`
	)
	for _, row := range []struct{ path, value, owner string }{
		{"/spec/limits/0/max/cpu", `"1"`, "a"},
		{"/spec/limits/0/max/cpu", `"1000m"`, "b"},
		{"/spec/limits/0/max/cpu", `1`, "a"},
		{"/spec/limits/0/max/example.com~1gpu", `"1Mi"`, "a"},
		{"/spec/limits/0/max/example.com~1gpu", `"1024Ki"`, "b"},
		{"/spec/limits/0/max", `{"cpu":"1000m","example.com/gpu":"1Mi"}`, "b"},
	} {
		t.Run(row.path+" "+row.value, func(t *testing.T) {
			apitest.Do(t, srv, "POST", path+"?fieldManager=a", body)
			defer apitest.Do(t, srv, "DELETE", path+"/a", "")
			code, obj := apitest.DoWithHeaders(t, srv, "PATCH", path+"/a?fieldManager=b",
				fmt.Sprintf(`[{"op":"replace","path":%q,"value":%s}]`, row.path, row.value), "Content-Type", jsonPatch)
			require.Equal(t, 200, code, obj)
			entries := obj["metadata"].(map[string]any)["managedFields"].([]any)
			require.Len(t, entries, 1)
			assert.Equal(t, row.owner, entries[0].(map[string]any)["manager"])
		})
	}
}
