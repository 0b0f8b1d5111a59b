package release_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release"
)

func open(t *testing.T, name string) *release.Release {
	t.Helper()
	r, err := release.Open(name)
	require.NoError(t, err)
	return r
}

func TestEnabled(t *testing.T) {
	for _, tt := range []struct {
		name, release, gate string
		set                 map[string]bool
		want                bool
	}{
		{"default", "v1.36", "WatchList", nil, true},
		{"alpha", "v1.36", "CBORServingAndStorage", nil, false},
		{"set", "v1.36", "CBORServingAndStorage", map[string]bool{"CBORServingAndStorage": true}, true},
		{"before the gate", "v1.32", "ConstrainedImpersonation", nil, false},
		{"after the gate", "v1.36", "APIListChunking", nil, true},
		{"all alpha", "v1.34", "CBORServingAndStorage", map[string]bool{"AllAlpha": true}, true},
		{"all alpha but one", "v1.34", "CBORServingAndStorage", map[string]bool{"AllAlpha": true, "CBORServingAndStorage": false}, false},
		{"no beta", "v1.34", "WatchList", map[string]bool{"AllBeta": false, "DRAPrioritizedList": true}, false},
		{"no alpha", "v1.34", "WatchList", map[string]bool{"AllAlpha": false}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := open(t, tt.release).WithGates(tt.set)
			require.NoError(t, err)
			assert.Equal(t, tt.want, r.Enabled(tt.gate))
		})
	}
	assert.PanicsWithValue(t, `release: no feature gate "Magic"`, func() { open(t, "").Enabled("Magic") })
}

func TestWithGates(t *testing.T) {
	r := open(t, "v1.36")
	for _, tt := range []struct {
		name string
		set  map[string]bool
		want string
	}{
		{"unknown", map[string]bool{"Magic": true, "SidecarContainers": false}, "unrecognized feature gate: Magic"},
		{"locked", map[string]bool{"SidecarContainers": false}, "cannot set feature gate SidecarContainers to false, feature is locked to true"},
		{"two locked", map[string]bool{"SidecarContainers": false, "BtreeWatchCache": false}, "[cannot set feature gate BtreeWatchCache to false, feature is locked to true, cannot set feature gate SidecarContainers to false, feature is locked to true]"},
		{"gone", map[string]bool{"APIListChunking": true}, "unrecognized feature gate: APIListChunking; it is gone since v1.33"},
		{"needs another", map[string]bool{"DRADeviceTaintRules": true, "DRADeviceTaints": false}, "DRADeviceTaintRules is enabled, but depends on features that are disabled: [DRADeviceTaints]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := r.WithGates(tt.set)
			assert.EqualError(t, err, tt.want)
		})
	}
	same, err := r.WithGates(map[string]bool{"WatchList": true})
	require.NoError(t, err)
	assert.Same(t, r, same)
	a, err := r.WithGates(map[string]bool{"WatchList": false})
	require.NoError(t, err)
	b, err := r.WithGates(map[string]bool{"WatchList": false, "OpenAPIEnums": true})
	require.NoError(t, err)
	assert.Same(t, a, b)
	selected, err := a.Select(release.RuntimeConfig{"batch/v1": false})
	require.NoError(t, err)
	assert.False(t, selected.Enabled("WatchList"))
	other, err := r.Select(release.RuntimeConfig{"batch/v1": false})
	require.NoError(t, err)
	assert.True(t, other.Enabled("WatchList"))
}

func TestWithoutPrivileged(t *testing.T) {
	r := open(t, "v1.36")
	assert.True(t, r.Privileged())
	out := r.WithoutPrivileged()
	assert.False(t, out.Privileged())
	assert.Same(t, out, r.WithoutPrivileged())
	assert.True(t, r.Privileged())
	gated, err := out.WithGates(map[string]bool{"WatchList": false})
	require.NoError(t, err)
	assert.False(t, gated.Privileged())
	assert.Equal(t, r.Types(), gated.Types())
}

func TestParseGates(t *testing.T) {
	for _, tt := range []struct {
		values []string
		want   map[string]bool
		err    string
	}{
		{[]string{"A=true, B=0", "", "C=F"}, map[string]bool{"A": true, "B": false, "C": false}, ""},
		{[]string{"kube:A=true", "kube:A=false"}, map[string]bool{"A": false}, ""},
		{[]string{"A"}, nil, "missing bool value for A"},
		{[]string{"A=x"}, nil, `invalid value of A=x, err: strconv.ParseBool: parsing "x": invalid syntax`},
		{[]string{"wardle:A=true"}, nil, "component not registered: wardle"},
		{[]string{"kube:A=true,B=true"}, nil, "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use"},
	} {
		got, err := release.ParseGates(tt.values)
		if assert.Equal(t, tt.want, got); tt.err != "" {
			assert.EqualError(t, err, tt.err)
		}
	}
}

// Each release has gates in all stages, and only known gates are needed.
func TestGates(t *testing.T) {
	for _, name := range release.Names() {
		r := open(t, name)
		names, stages := map[string]bool{}, map[string]int{}
		for _, g := range r.Gates() {
			names[g.Name] = true
			stages[g.Stage]++
			assert.Equal(t, g.Default, r.Enabled(g.Name), "%s %s", name, g.Name)
		}
		assert.Len(t, stages, 4, name)
		for _, g := range r.Gates() {
			for _, need := range g.Needs {
				assert.True(t, names[need], "%s %s needs %s", name, g.Name, need)
			}
		}
	}
}
