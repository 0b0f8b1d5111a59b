package objects_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// What may change in the template of a suspended Job depends on two gates.
func TestSuspendedJobGates(t *testing.T) {
	const (
		path      = "/apis/batch/v1/namespaces/default/jobs"
		resources = `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]}}}}`
		selector  = `{"spec":{"template":{"metadata":{"labels":{"x":"y"}},"spec":{"nodeSelector":{"a":"b"}}}}}`
		image     = `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"j"}]}}}}`
		never     = `{}`
		before    = `{"status":{"startTime":"2026-01-02T03:04:05Z","conditions":[{"type":"Suspended","status":"True"}]}}`
	)
	for i, row := range []struct {
		name                 string
		directives, quantity bool // the gates
		started              string
		patch                string
		want                 int
		field                string
	}{
		{"resources", true, true, never, resources, 200, ""},
		{"resources, gate off", true, false, never, resources, 422, "spec.template"},
		{"directives of a Job that was started", true, true, before, selector, 200, ""},
		{"directives of a Job that was started, gate off", false, false, before, selector, 422, "spec.template"},
		{"directives of a new Job, gate off", false, false, never, selector, 200, ""},
		{"directives of a Job that was started, with the gate of resources", false, true, before, selector, 422, "spec.template.spec"},
		{"image", true, true, never, image, 422, "spec.template.spec"},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{
				"MutableSchedulingDirectivesForSuspendedJobs": row.directives, "MutablePodResourcesForSuspendedJobs": row.quantity,
			}}))
			name := "j" + strconv.Itoa(i)
			code, _ := apitest.Do(t, srv, "POST", path, `{"metadata":{"name":"`+name+`"},"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`)
			require.Equal(t, 201, code)
			code, _ = apitest.Do(t, srv, "PATCH", path+"/"+name+"/status", row.started)
			require.Equal(t, 200, code)
			code, answer := apitest.Do(t, srv, "PATCH", path+"/"+name, row.patch)
			assert.Equal(t, row.want, code, answer["message"])
			if row.want == 422 {
				causes := answer["details"].(map[string]any)["causes"].([]any)
				require.Len(t, causes, 1)
				assert.Equal(t, row.field, causes[0].(map[string]any)["field"])
			}
		})
	}
}

// The transitions of the status of a Job are checked with the gate of the field managedBy.
func TestJobManagedByGate(t *testing.T) {
	const path = "/apis/batch/v1/namespaces/default/jobs"
	for _, row := range []struct {
		name string
		on   bool
		want int
	}{{"strict", true, 422}, {"not strict", false, 200}} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.33"), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"JobManagedBy": row.on}}))
			code, _ := apitest.Do(t, srv, "POST", path, `{"metadata":{"name":"a"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`)
			require.Equal(t, 201, code)
			code, answer := apitest.Do(t, srv, "PATCH", path+"/a/status", `{"status":{"startTime":"2026-01-02T03:04:05Z","conditions":[{"type":"Failed","status":"True"}]}}`)
			assert.Equal(t, row.want, code, answer["message"])
		})
	}
}

// Claims lose the class of their attributes without its gate.
func TestVolumeAttributesClassGate(t *testing.T) {
	for _, row := range []struct {
		name string
		on   bool
		want any
	}{{"on", true, "gold"}, {"off", false, nil}} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.34"), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"VolumeAttributesClass": row.on}}))
			code, claim := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/persistentvolumeclaims", `{"metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"volumeAttributesClassName":"gold","resources":{"requests":{"storage":"1Gi"}}}}`)
			require.Equal(t, 201, code, claim["message"])
			assert.Equal(t, row.want, claim["spec"].(map[string]any)["volumeAttributesClassName"])
		})
	}
}
