package release_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
)

// A resource behind a gate is served if its version is on, too. It does not matter which of
// the two is set first.
func TestGatedResources(t *testing.T) {
	gates := map[string]bool{"GenericWorkload": true}
	gv := resource.GroupVersion{Group: "scheduling.k8s.io", Version: "v1alpha2"}
	for _, row := range []struct {
		name   string
		config release.RuntimeConfig
		gates  map[string]bool
		want   []string
	}{
		{"default", nil, nil, nil},
		{"without the version", nil, gates, nil},
		{"without the gate", release.RuntimeConfig{"api/all": true}, nil, nil},
		{"both", release.RuntimeConfig{"api/all": true}, gates, []string{"podgroups", "workloads"}},
		{"one resource", release.RuntimeConfig{"scheduling.k8s.io/v1alpha2/workloads": true}, gates, []string{"workloads"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			first, err := release.Open("v1.36")
			require.NoError(t, err)
			selected, err := first.Select(row.config)
			require.NoError(t, err)
			selected, err = selected.WithGates(row.gates)
			require.NoError(t, err)
			gated, err := first.WithGates(row.gates)
			require.NoError(t, err)
			gated, err = gated.Select(row.config)
			require.NoError(t, err)
			for _, r := range []*release.Release{selected, gated} {
				var names []string
				for _, typ := range r.Types() {
					if typ.GroupVersion == gv {
						names = append(names, typ.Name)
					}
				}
				assert.Equal(t, row.want, names)
				assert.Equal(t, len(row.want) > 0, r.OpenAPIHash("apis/scheduling.k8s.io/v1alpha2") != "", "the document")
			}
		})
	}
}
