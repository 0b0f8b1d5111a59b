package fieldmanager

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
)

func TestFilter(t *testing.T) {
	encoded := object.FieldsV1(wire.AppendAny(nil, parse(t, `
"f:metadata": {"f:labels": {".": {}, "f:a": {}}, "f:annotations": {"f:b": {}}}
"f:spec":
  "f:nodeName": {}
  "f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:resources": {"f:limits": {}}}}
"f:status": {"f:phase": {}}
`)))
	for _, test := range []struct {
		name   string
		filter *Filter
		want   string
	}{
		{"except one", Except("status"), `
"f:metadata": {"f:labels": {".": {}, "f:a": {}}, "f:annotations": {"f:b": {}}}
"f:spec":
  "f:nodeName": {}
  "f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:resources": {"f:limits": {}}}}
`},
		{"except several", Except("spec", "metadata.labels"), `
"f:metadata": {"f:annotations": {"f:b": {}}}
"f:status": {"f:phase": {}}
`},
		{"except absent paths", Except("metadata.labels.c", "data"), `
"f:metadata": {"f:labels": {".": {}, "f:a": {}}, "f:annotations": {"f:b": {}}}
"f:spec":
  "f:nodeName": {}
  "f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:resources": {"f:limits": {}}}}
"f:status": {"f:phase": {}}
`},
		{"except all below a path", Except("metadata.labels.a", "spec.containers"), `
"f:metadata": {"f:labels": {}, "f:annotations": {"f:b": {}}}
"f:spec": {"f:nodeName": {}}
"f:status": {"f:phase": {}}
`},
		{"except a whole branch", Except("metadata.annotations.b", "status.phase"), `
"f:metadata": {"f:labels": {".": {}, "f:a": {}}}
"f:spec":
  "f:nodeName": {}
  "f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:resources": {"f:limits": {}}}}
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := object.FieldsV1(wire.AppendAny(nil, parse(t, test.want)))
			set, err := decode(encoded, nil)
			require.NoError(t, err)
			assert.Equal(t, want, names(nil).tree(test.filter.fields.Filter(set.asSet(nil))).encode())
			tree, err := decodeTree(encoded, nil)
			require.NoError(t, err)
			test.filter.prune(&tree)
			assert.Equal(t, want, tree.normalize().encode())
		})
	}
}

func TestFilterIn(t *testing.T) {
	f := Except("spec")
	assert.Same(t, f, f.at("v1"), "all versions")
	assert.NotNil(t, f.In([]string{"v1", "v2"}).at("v2"))
	assert.Nil(t, f.In([]string{"v1"}).at("v2"))
	assert.Nil(t, f.In([]string{}).at("v2"), "no version")
}
