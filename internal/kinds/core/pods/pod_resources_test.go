package pods

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

func TestQOSClass(t *testing.T) {
	const all = `{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1000m","memory":"1024Mi"}}`
	const some = `{"requests":{"cpu":"1"}}`
	for _, row := range []struct {
		name, spec, want string
	}{
		{"no resources", `{"containers":[{}]}`, BestEffort},
		{"no CPU and memory", `{"containers":[{"resources":{"requests":{"ephemeral-storage":"1","cpu":"0"}}}]}`, BestEffort},
		{"requests without limits", `{"containers":[{"resources":` + some + `}]}`, burstable},
		{"equal requests and limits", `{"containers":[{"resources":` + all + `}]}`, guaranteed},
		{"container without resources", `{"containers":[{"resources":` + all + `},{}]}`, burstable},
		{"init container without resources", `{"containers":[{"resources":` + all + `}],"initContainers":[{}]}`, burstable},
		{"limits above requests", `{"containers":[{"resources":{"limits":{"cpu":"1","memory":"2Gi"},"requests":{"cpu":"1","memory":"1Gi"}}}]}`, burstable},
		{"pod-level requests and limits", `{"resources":` + all + `,"containers":[{}]}`, guaranteed},
		{"pod-level requests without limits", `{"resources":` + some + `,"containers":[{"resources":` + all + `}]}`, burstable},
	} {
		t.Run(row.name, func(t *testing.T) {
			var spec map[string]any
			assert.NoError(t, json.Unmarshal([]byte(row.spec), &spec))
			assert.Equal(t, row.want, qosRule{}.class(object.ViewOf(spec)))
		})
	}
}

// A LimitRange gives containers resources after the defaults of the Pod have been set.
func TestCompletePodResources(t *testing.T) {
	const containers = `"containers":[{"resources":{"limits":{"memory":"2"},"requests":{"memory":"1"}}},{"resources":{"requests":{"memory":"1"}}}]`
	for _, row := range []struct {
		name, spec, want string // want is "" if nothing changes
	}{
		{"missing requests", `{"resources":{"limits":{"cpu":"3"},"requests":{"cpu":"3"}},` + containers + `}`, `{"limits":{"cpu":"3"},"requests":{"cpu":"3","memory":"2"}}`},
		{"nothing is missing", `{"resources":{"limits":{"cpu":"3"},"requests":{"cpu":"3","memory":"5"}},` + containers + `}`, ``},
		{"no limits", `{"resources":{"requests":{"cpu":"3"}},` + containers + `}`, ``},
		{"no pod-level resources", `{` + containers + `}`, ``},
	} {
		t.Run(row.name, func(t *testing.T) {
			var spec map[string]any
			assert.NoError(t, json.Unmarshal([]byte(row.spec), &spec))
			before, _ := json.Marshal(spec["resources"])
			pod := map[string]any{"spec": spec}
			assert.Equal(t, row.want != "", completePodResources(pod))
			unchanged, _ := json.Marshal(spec["resources"])
			assert.Equal(t, string(before), string(unchanged), "the spec is not changed")
			after, err := json.Marshal(object.Value(pod, "spec", "resources"))
			assert.NoError(t, err)
			if row.want == "" {
				row.want = string(before)
			}
			assert.JSONEq(t, row.want, string(after))
		})
	}
}
