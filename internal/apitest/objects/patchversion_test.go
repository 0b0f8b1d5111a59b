package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// TestPatchToAnotherVersion changes the version in which a patched object is read.
func TestPatchToAnotherVersion(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
	code, _ := apitest.Do(t, srv, "POST", path, `{"metadata":{"name":"a"},"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"},"behavior":{"scaleDown":{"selectPolicy":"Disabled"}}}}`)
	require.Equal(t, 201, code)
	code, obj := apitest.Do(t, srv, "PATCH", path+"/a", `{"apiVersion":"autoscaling/v1","spec":{"targetCPUUtilizationPercentage":7}}`)
	require.Equal(t, 200, code)
	assert.Equal(t, "autoscaling/v2", obj["apiVersion"])
	spec := obj["spec"].(map[string]any)
	assert.NotContains(t, spec, "behavior")
	metric := spec["metrics"].([]any)[0].(map[string]any)["resource"].(map[string]any)
	assert.EqualValues(t, 7, metric["target"].(map[string]any)["averageUtilization"])

	code, obj = apitest.Do(t, srv, "PATCH", path+"/a", `{"apiVersion":"autoscaling/v2beta2"}`)
	assert.Equal(t, 422, code)
	assert.Contains(t, obj["message"], `no kind "HorizontalPodAutoscaler" is registered for version "autoscaling/v2beta2"`)
}
