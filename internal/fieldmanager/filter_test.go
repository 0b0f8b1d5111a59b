package fieldmanager

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

func TestFilter(t *testing.T) {
	tree := parse(t, `
"f:metadata": {"f:labels": {".": {}, "f:a": {}}, "f:annotations": {"f:b": {}}}
"f:spec":
  "f:nodeName": {}
  "f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:resources": {"f:limits": {}}}}
"f:status": {"f:phase": {}}
`)
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
			set, err := names(nil).parseFields(tree, nil)
			require.NoError(t, err)
			got := names(nil).formatFields(test.filter.fields.Filter(set))
			assert.Equal(t, parse(t, test.want), got)
			pruned := object.Copy(tree)
			test.filter.prune(pruned)
			assert.Equal(t, parse(t, test.want), pruned)
		})
	}
}
