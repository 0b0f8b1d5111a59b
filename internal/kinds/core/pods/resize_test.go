package pods_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

// TestResizeInReleases checks what each release lets pods/resize change.
func TestResizeInReleases(t *testing.T) {
	const (
		bare     = `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
		sized    = `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"memory":"2"},"limits":{"memory":"2"}}}]}}`
		gpu      = `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"memory":"2"},"limits":{"x.y/gpu":"1"}}}]}}`
		inits    = `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"i","image":"i","resources":{"requests":{"cpu":"1"}}},{"name":"s","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]}}`
		podLevel = `{"metadata":{"name":"p","namespace":"n"},"spec":{"resources":{"requests":{"cpu":"1"}},"containers":[{"name":"c","image":"i"}]}}`

		onlyCompute = "spec: Forbidden: only cpu and memory resources are mutable"
		resizedInit = `{"spec":{"initContainers":[{"name":"i","image":"i","resources":{"requests":{"cpu":"2"}}},{"name":"s","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]}}`
		removedInit = `{"spec":{"initContainers":[{"name":"i","image":"i"},{"name":"s","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]}}`
		sidecarDisk = `{"spec":{"initContainers":[{"name":"i","image":"i","resources":{"requests":{"cpu":"1"}}},{"name":"s","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1","ephemeral-storage":"1"}}}]}}`
		storage     = `{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"ephemeral-storage":"1"}}}]}}`
		moreCPU     = `{"spec":{"resources":{"requests":{"cpu":"2"}}}}`
	)
	limits := func(list string) string {
		return `{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"memory":"2"},"limits":{` + list + `}}}]}}`
	}
	for _, tt := range []struct {
		name, release, old, patch string
		errors                    []string
	}{
		{"limits of a container without any", "1.34", bare, storage, nil},
		{"limits of a container without any", "1.35", bare, storage, []string{onlyCompute}},
		{"one more limit", "1.34", sized, limits(`"memory":"2","ephemeral-storage":"1"`), []string{onlyCompute}},
		{"less memory", "1.33", sized, `{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"memory":"1"},"limits":{"memory":"1"}}}]}}`,
			[]string{"spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be decreased unless resizePolicy is RestartContainer"}},
		{"less memory", "1.34", sized, `{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"memory":"1"},"limits":{"memory":"1"}}}]}}`, nil},
		{"memory limit", "1.33", gpu, limits(`"x.y/gpu":"1","memory":"3"`),
			[]string{"spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be added unless resizePolicy is RestartContainer"}},
		{"memory limit", "1.34", gpu, limits(`"x.y/gpu":"1","memory":"3"`), nil},
		{"init container", "1.35", inits, resizedInit, []string{"spec: Forbidden: resources for non-sidecar init containers are immutable"}},
		{"init container", "1.36", inits, resizedInit, nil},
		{"request of an init container removed", "1.35", inits, removedInit, []string{"spec: Forbidden: resources for non-sidecar init containers are immutable"}},
		{"request of an init container removed", "1.36", inits, removedInit, []string{"spec.initContainers[0].resources.requests: Forbidden: resource requests cannot be removed"}},
		{"storage of a sidecar", "1.35", inits, sidecarDisk, []string{"spec: Forbidden: only cpu and memory resources for sidecar containers are mutable"}},
		{"storage of a sidecar", "1.36", inits, sidecarDisk, []string{"spec.initContainers[1]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable"}},
		{"resources of the Pod", "1.34", podLevel, moreCPU, []string{"[]: Forbidden: pods with pod-level resources cannot be resized"}},
		{"resources of the Pod", "1.35", podLevel, moreCPU,
			[]string{"[]: Forbidden: resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"}},
		{"resources of the Pod", "1.36", podLevel, moreCPU, nil},
	} {
		t.Run(tt.release+" "+tt.name, func(t *testing.T) {
			typ := kindtest.TypeIn(t, tt.release, "pods")
			old := kindtest.Create(t, typ, tt.old)
			doc, err := json.Marshal(old)
			require.NoError(t, err)
			obj := kindtest.Decode(t, typ, kindtest.MergePatch(t, string(doc), tt.patch))
			resize := typ.SubresourceStrategies["resize"]
			resize.Prepare(obj, old)
			var errs []string
			for _, e := range resize.Validate(obj, old) {
				errs = append(errs, e.Error())
			}
			assert.Equal(t, tt.errors, errs)
		})
	}
}
