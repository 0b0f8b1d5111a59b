//go:build go1.25

package wire

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release/data"
)

func TestForKind(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		group, version, kind string
		want                 string // "" if not found
	}{
		{"a kind", "apps", "v1", "Deployment", "v1.Deployment"},
		{"of the legacy group", "", "v1", "Pod", "v1.Pod"},
		{"a list", "apps", "v1", "DeploymentList", "v1.DeploymentList"},
		{"of a subresource", "policy", "v1", "Eviction", "v1.Eviction"},
		{"options of a subresource", "", "v1", "PodExecOptions", "v1.PodExecOptions"},
		{"of all groups", "apps", "v1", "DeleteOptions", "v1.DeleteOptions"},
		{"a table", "meta.k8s.io", "v1", "Table", "v1.Table"},
		{"a struct of the machinery", "meta.k8s.io", "v1", "ObjectMeta", "v1.ObjectMeta"},
		{"an alpha version", "resource.k8s.io", "v1alpha3", "DeviceTaintRule", "v1alpha3.DeviceTaintRule"},
		{"what webhooks see", "admission.k8s.io", "v1", "AdmissionReview", "v1.AdmissionReview"},
		{"a struct that is no kind", "", "v1", "PodSpec", ""},
		{"another group's kind", "apps", "v1", "Pod", ""},
		{"a type that is no struct", "", "v1", "PodPhase", ""},
		{"no such version", "apps", "v9", "Deployment", ""},
		{"no such group", "example.com", "v1", "DeleteOptions", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			typ, ok := ForKind(tt.group, tt.version, tt.kind)
			if tt.want == "" {
				assert.False(t, ok)
				assert.Nil(t, typ)
				return
			}
			require.True(t, ok)
			assert.Equal(t, tt.want, typ.GoName())
		})
	}
}

func TestForKindConcurrently(t *testing.T) {
	var wg sync.WaitGroup
	types := make([]*Type, 8)
	for i := range types {
		wg.Go(func() {
			typ, ok := ForKind("batch", "v1", "CronJob")
			if assert.True(t, ok) {
				typ.Append(nil, nil)
				types[i] = typ
			}
		})
	}
	wg.Wait()
	for _, typ := range types {
		assert.Same(t, types[0], typ)
	}
}

// TestTable builds all types, to check that the package can read the generated
// table.
func TestTable(t *testing.T) {
	table := open(0)
	require.NotEmpty(t, table.packages)
	for _, pkg := range table.packages {
		for name := range table.declarations(pkg) {
			n := table.node(pkg + "." + name)
			assert.Equal(t, goType(pkg+"."+name), n.goType)
			for i := range n.fields {
				assert.Equal(t, i, n.byName.Find(n.fields[i].name))
			}
		}
	}
	assert.Less(t, len(data.WireTypes()), 150<<10)
}
