package resourceapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestResourceSlices(t *testing.T) {
	typ := kindtest.TypeIn(t, "v1.37-all", "resourceslices.resource.k8s.io")
	for _, tt := range []struct{ name, fields, want string }{
		{"skips both", `"skipNodeOperations":["NodePrepareResources","NodeUnprepareResources"]`, ""},
		{"skips all", `"skipNodeOperations":["*","NodePrepareResources"]`, ""},
		{"skips preparing only", `"skipNodeOperations":["NodePrepareResources"]`,
			`spec.skipNodeOperations: Invalid value: ["NodePrepareResources"]: NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped`},
		{"skips unknown operations", `"skipNodeOperations":["X","*","*"]`,
			`[spec.skipNodeOperations[2]: Duplicate value: "*", spec.skipNodeOperations[0]: Unsupported value: "X": supported values: "*", "NodePrepareResources", "NodeUnprepareResources"]`},
		{"attribute with several values", `"devices":[{"name":"a","attributes":{"a":{"bool":true,"ints":[2],"string":"x"}}}]`,
			"spec.devices[0].attributes[a]: Invalid value: \"{bool, string, ints}\": must specify exactly one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj := kindtest.Decode(t, typ, `{"spec":{"driver":"d.example.com","allNodes":true,"pool":{"generation":1,"name":"b","resourceSliceCount":1},`+tt.fields+`}}`)
			assert.Equal(t, tt.want, typ.Validate(obj, nil).Message())
		})
	}
}

func TestSelectSlices(t *testing.T) {
	const slices = "resourceslices.resource.k8s.io"
	slice := map[string]any{"spec": map[string]any{"nodeName": "n", "driver": "d", "pool": map[string]any{"name": "p"}}}
	for release, want := range map[string]map[string]string{
		"v1.37": {"spec.nodeName": "n", "spec.driver": "d", "spec.pool.name": "p"},
		"v1.36": {"spec.nodeName": "n", "spec.driver": "d"},
	} {
		got := map[string]string{}
		for _, f := range kindtest.TypeIn(t, release, slices).SelectableFields {
			got[f.Label] = f.Value(slice)
		}
		assert.Equal(t, want, got, release)
	}
}
