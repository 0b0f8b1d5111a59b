package objects_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// kube-apiserver stores times without fractions of a second, but compares what a request has with what is
// stored: an update with a fraction changes the spec each time. Recorded from kube-apiserver v1.37.2.
func TestFractionsOfSeconds(t *testing.T) {
	const (
		json, merge, jsonPatch, apply = "application/json", "application/merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml"

		whole, half = "2020-01-02T03:04:05Z", "2020-01-02T03:04:05.5Z"

		rules   = "/apis/resource.k8s.io/v1/devicetaintrules"
		rule    = `{"apiVersion":"resource.k8s.io/v1","kind":"DeviceTaintRule","metadata":{"name":"a"},"spec":{"deviceSelector":{"driver":"d"},"taint":{"key":"k","effect":"NoExecute","timeAdded":"TIME"}}}`
		sets    = "/apis/apps/v1/namespaces/default/daemonsets"
		set     = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"},"creationTimestamp":"TIME"},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
		configs = "/api/v1/namespaces/default/configmaps"
		config  = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","creationTimestamp":"TIME"}}`
		data    = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"t":"TIME"}}`
	)
	for _, tt := range []struct {
		name, path, object, method, media, body, time string
		want                                          any // the generation after two updates
	}{
		{"PUT", rules, rule, "PUT", json, rule, half, 3.0},
		{"PUT without a fraction", rules, rule, "PUT", json, rule, whole, 1.0},
		{"PUT with a fraction of zero", rules, rule, "PUT", json, rule, "2020-01-02T03:04:05.000Z", 1.0},
		{"PUT in another time zone", rules, rule, "PUT", json, rule, "2020-01-02T04:04:05.5+01:00", 3.0},
		{"merge patch", rules, rule, "PATCH", merge, `{"spec":{"taint":{"timeAdded":"TIME"}}}`, half, 3.0},
		{"JSON patch", rules, rule, "PATCH", jsonPatch, `[{"op":"replace","path":"/spec/taint/timeAdded","value":"TIME"}]`, half, 3.0},
		{"apply", rules, rule, "PATCH", apply, rule, half, 3.0},
		{"patch of another field", rules, rule, "PATCH", merge, `{"metadata":{"annotations":{"a":"TIME"}}}`, half, 1.0},
		{"template", sets, set, "PUT", json, set, half, 3.0},
		{"creation", configs, config, "PUT", json, config, half, nil},
		{"data", configs, data, "PUT", json, data, half, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory())
			code, obj := apitest.Do(t, srv, "POST", tt.path, strings.ReplaceAll(tt.object, "TIME", whole))
			require.Equal(t, 201, code, obj)
			for range 2 {
				path := tt.path + "/a"
				if tt.media == apply {
					path += "?fieldManager=m&force=true"
				}
				version := obj["metadata"].(map[string]any)["resourceVersion"].(string)
				body := strings.NewReplacer("TIME", tt.time, `"name":"a"`, `"name":"a","resourceVersion":"`+version+`"`).Replace(tt.body)
				code, obj = apitest.DoWithHeaders(t, srv, tt.method, path, body, "Content-Type", tt.media)
				require.Equal(t, 200, code, obj)
			}
			assert.Equal(t, tt.want, obj["metadata"].(map[string]any)["generation"])
		})
	}
}

// What is immutable differs from what is stored by a fraction of a second, which errors do not show.
// Recorded from kube-apiserver v1.37.2.
func TestFractionsOfImmutableTimes(t *testing.T) {
	const (
		whole, half = "2020-01-02T03:04:05Z", "2020-01-02T03:04:05.5Z"

		jobs = "/apis/batch/v1/namespaces/default/jobs"
		job  = `{"metadata":{"name":"a"},"spec":{"template":{"metadata":{"creationTimestamp":"2020-01-02T03:04:05Z"},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`
	)
	for _, tt := range []struct{ name, path, patch, want string }{
		{"status", jobs + "/a/status", `{"status":{"startTime":"TIME"}}`, `Job.batch "a" is invalid: status.startTime: Invalid value: "2020-01-02T03:04:05Z": field is immutable for unsuspended job once set`},
		{"part of an immutable object", jobs + "/a", `{"spec":{"template":{"metadata":{"creationTimestamp":"TIME"}}}}`, `Job.batch "a" is invalid: spec.template: Invalid value: {"creationTimestamp":"2020-01-02T03:04:05Z",`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory())
			code, obj := apitest.Do(t, srv, "POST", jobs, job)
			require.Equal(t, 201, code, obj)
			code, obj = apitest.Do(t, srv, "PATCH", tt.path, strings.ReplaceAll(tt.patch, "TIME", whole))
			require.Equal(t, 200, code, obj)
			code, obj = apitest.Do(t, srv, "PATCH", tt.path, strings.ReplaceAll(tt.patch, "TIME", half))
			assert.Equal(t, 422, code)
			assert.True(t, strings.HasPrefix(obj["message"].(string), tt.want), obj["message"])
		})
	}
}
