package kind

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGatedPaths(t *testing.T) {
	for _, row := range []struct {
		name, group, kind, object string
		want                      []GatedPath
	}{
		{"none", "", "Pod", `{"spec":{"containers":[{"name":"a"}]}}`, nil},
		{"of a Pod", "", "Pod", `{"spec":{"hostUsers":false,"containers":[{"name":"a"}]}}`, []GatedPath{{"UserNamespacesSupport", "spec.hostUsers"}}},
		{"of a template", "apps", "Deployment", `{"spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"b","lifecycle":{"stopSignal":"SIGINT"}}]}}}}`,
			[]GatedPath{{"ContainerStopSignals", "spec.template.spec.containers[1].lifecycle.stopSignal"}}},
		{"the first one of a gate", "", "Pod", `{"spec":{"volumes":[{"name":"a"},{"name":"v","image":{}},{"name":"w","image":{}}]}}`, []GatedPath{{"ImageVolume", "spec.volumes[1].image"}}},
		{"of a status", "", "Pod", `{"status":{"initContainerStatuses":[{"user":{}}]}}`, []GatedPath{{"SupplementalGroupsPolicy", "status.initContainerStatuses[0].user"}}},
		{"below the values of a map", "resource.k8s.io", "ResourceSlice", `{"spec":{"devices":[{"attributes":{"a":{"bools":[true]}}}]}}`, []GatedPath{{"DRAListTypeAttributes", "spec.devices[0].attributes"}}},
		{"a value that stays", "", "Pod", `{"spec":{"containers":[{"securityContext":{"procMount":"Default"}}]}}`, nil},
		{"another kind", "example.com", "Pod", `{"spec":{"hostUsers":false}}`, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			var obj map[string]any
			require.NoError(t, json.Unmarshal([]byte(row.object), &obj))
			assert.Equal(t, row.want, GatedPaths(row.group, row.kind, obj))
		})
	}
}
