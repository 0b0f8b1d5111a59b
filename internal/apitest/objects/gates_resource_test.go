package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// Lists of values in the attributes of devices need their gate.
func TestListTypeAttributesGate(t *testing.T) {
	const slice = `{"metadata":{"name":"a"},"spec":{"driver":"d.example.com","nodeName":"n","pool":{"name":"p","resourceSliceCount":1},
		"devices":[{"name":"a","attributes":{"x":{"bools":[],"string":"s"}}}]}}`
	for _, row := range []struct {
		name string
		on   bool
		want int
	}{{"on", true, 422}, {"off", false, 201}} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"DRAListTypeAttributes": row.on}}))
			code, answer := apitest.Do(t, srv, "POST", "/apis/resource.k8s.io/v1/resourceslices", slice)
			assert.Equal(t, row.want, code, answer["message"])
		})
	}
}

// CSIDrivers have the field preventPodSchedulingIfMissing, with a default, only with its gate.
func TestVolumeLimitScalingGate(t *testing.T) {
	for _, row := range []struct {
		name string
		on   bool
		want any
	}{{"on", true, false}, {"off", false, nil}} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"VolumeLimitScaling": row.on}}))
			code, driver := apitest.Do(t, srv, "POST", "/apis/storage.k8s.io/v1/csidrivers", `{"metadata":{"name":"a"},"spec":{}}`)
			require.Equal(t, 201, code, driver["message"])
			assert.Equal(t, row.want, driver["spec"].(map[string]any)["preventPodSchedulingIfMissing"])
		})
	}
}

// The manager that creates a taint owns the time that it gets by default.
func TestTaintTimeIsOwned(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{RuntimeConfig: map[string]bool{"api/all": true}}))
	code, rule := apitest.Do(t, srv, "POST", "/apis/resource.k8s.io/v1alpha3/devicetaintrules", `{"metadata":{"name":"a"},"spec":{"taint":{"effect":"NoSchedule","key":"a"}}}`)
	require.Equal(t, 201, code, rule["message"])
	entry := rule["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)
	spec := entry["fieldsV1"].(map[string]any)["f:spec"].(map[string]any)
	assert.Contains(t, spec["f:taint"], "f:timeAdded")
}
