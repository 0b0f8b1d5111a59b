package pods

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestQOSClass(t *testing.T) {
	const all = `{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1000m","memory":"1024Mi"}}`
	const some = `{"requests":{"cpu":"1"}}`
	for _, row := range []struct {
		name, spec, want string
	}{
		{"nothing", `{"containers":[{}]}`, bestEffort},
		{"nothing that counts", `{"containers":[{"resources":{"requests":{"ephemeral-storage":"1","cpu":"0"}}}]}`, bestEffort},
		{"some", `{"containers":[{"resources":` + some + `}]}`, burstable},
		{"all", `{"containers":[{"resources":` + all + `}]}`, guaranteed},
		{"all but one", `{"containers":[{"resources":` + all + `},{}]}`, burstable},
		{"all but an init container", `{"containers":[{"resources":` + all + `}],"initContainers":[{}]}`, burstable},
		{"limits above requests", `{"containers":[{"resources":{"limits":{"cpu":"1","memory":"2Gi"},"requests":{"cpu":"1","memory":"1Gi"}}}]}`, burstable},
		{"all of the pod", `{"resources":` + all + `,"containers":[{}]}`, guaranteed},
		{"some of the pod", `{"resources":` + some + `,"containers":[{"resources":` + all + `}]}`, burstable},
	} {
		t.Run(row.name, func(t *testing.T) {
			var spec map[string]any
			assert.NoError(t, json.Unmarshal([]byte(row.spec), &spec))
			assert.Equal(t, row.want, qosClass(spec))
		})
	}
}
