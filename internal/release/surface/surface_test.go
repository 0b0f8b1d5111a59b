package surface_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release/surface"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

const sample = `@v1
bindings binding Binding namespaced - create - -
namespaces namespace Namespace cluster = create,get ns -
/finalize Namespace update
@apps/v1
deployments deployment Deployment namespaced apps/v1beta2 create,get deploy all
/scale autoscaling/v1/Scale get,update
/status Deployment get
@autoscaling/v1
`

func TestParse(t *testing.T) {
	s, err := surface.Parse(sample)
	require.NoError(t, err)
	core, apps := resource.GroupVersion{Version: "v1"}, resource.GroupVersion{Group: "apps", Version: "v1"}
	scale := resource.GroupVersion{Group: "autoscaling", Version: "v1"}
	assert.Equal(t, []resource.GroupVersion{core, apps, scale}, s.GroupVersions)
	assert.Equal(t, []*resource.Type{
		{GroupVersion: core, Name: "bindings", Singular: "binding", Kind: "Binding", ListKind: "BindingList",
			Namespaced: true, Verbs: []string{"create"}},
		{GroupVersion: core, Name: "namespaces", Singular: "namespace", Kind: "Namespace", ListKind: "NamespaceList",
			Verbs: []string{"create", "get"}, ShortNames: []string{"ns"},
			Stored:       core,
			Subresources: []resource.Subresource{{Name: "finalize", Kind: resource.Kind{GroupVersion: core, Kind: "Namespace"}, Verbs: []string{"update"}}}},
		{GroupVersion: apps, Name: "deployments", Singular: "deployment", Kind: "Deployment", ListKind: "DeploymentList",
			Namespaced: true, Verbs: []string{"create", "get"}, ShortNames: []string{"deploy"}, Categories: []string{"all"},
			Stored: resource.GroupVersion{Group: "apps", Version: "v1beta2"},
			Subresources: []resource.Subresource{
				{Name: "scale", Kind: resource.Kind{GroupVersion: scale, Kind: "Scale"}, Verbs: []string{"get", "update"}},
				{Name: "status", Kind: resource.Kind{GroupVersion: apps, Kind: "Deployment"}, Verbs: []string{"get"}},
			}},
	}, s.Types)
	assert.Equal(t, sample, surface.Format(s))
}

func TestStored(t *testing.T) {
	got := map[status.GroupResource]resource.GroupVersion{}
	for r, stored := range surface.Stored(sample) {
		got[r] = stored
	}
	assert.Equal(t, map[status.GroupResource]resource.GroupVersion{
		{Resource: "bindings"}:                   {},
		{Resource: "namespaces"}:                 {Version: "v1"},
		{Group: "apps", Resource: "deployments"}: {Group: "apps", Version: "v1beta2"},
	}, got)
}

func TestParseErrors(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"no group version":           {"pods pod Pod cluster = get - -\n", `line 1: "pods pod Pod cluster = get - -" precedes all group versions`},
		"too few fields":             {"@v1\npods pod Pod\n", `line 2: "pods pod Pod" does not have 8 fields`},
		"too many fields":            {"@v1\npods pod Pod cluster = get - - -\n", `line 2: "pods pod Pod cluster = get - - -" does not have 8 fields`},
		"empty field":                {"@v1\npods  Pod cluster = get - -\n", `line 2: "pods  Pod cluster = get - -" does not have 8 fields`},
		"blank line":                 {"@v1\n\n", `line 2: "" does not have 8 fields`},
		"unknown scope":              {"@v1\npods pod Pod here = get - -\n", `line 2: scope "here" is neither "namespaced" nor "cluster"`},
		"bad group version":          {"@a/b/c\n", `line 1: "a/b/c" is not a group version`},
		"no version":                 {"@apps/\n", `line 1: "apps/" is not a group version`},
		"group version twice":        {"@v1\n@v1\n", `line 2: duplicate group version v1`},
		"no kind":                    {"@v1\npods pod Pod cluster = get - -\n/status v1/ get\n", `line 3: "v1/" has no kind`},
		"bad stored version":         {"@v1\npods pod Pod cluster /v1 get - -\n", `line 2: "/v1" is not a group version`},
		"subresource without a type": {"@v1\n/status Pod get\n", `line 2: subresource "status" precedes all types of v1`},
		"subresource of a type of another group version": {"@v1\npods pod Pod cluster = get - -\n@apps/v1\n/status Pod get\n", `line 4: subresource "status" precedes all types of apps/v1`},
		"bad subresource kind":                           {"@v1\npods pod Pod cluster = get - -\n/status //Pod get\n", `line 3: "/" is not a group version`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := surface.Parse(row.text)
			assert.EqualError(t, err, row.want)
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("@v1\n/status Pod get\n")
	f.Add("@a/b/c\npods pod")
	f.Add("@v1\npods pod Pod cluster = get - -\n/status v1/ get")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := surface.Parse(text)
		if err != nil {
			return
		}
		again, err := surface.Parse(surface.Format(s))
		require.NoError(t, err)
		assert.Equal(t, s, again)
	})
}

func ExampleParse() {
	s, err := surface.Parse("@apps/v1\ndeployments deployment Deployment namespaced = get,list deploy all\n/scale autoscaling/v1/Scale get\n")
	if err != nil {
		panic(err)
	}
	t := s.Types[0]
	fmt.Println(t.GroupVersion, t.ListKind, t.Verbs, t.Subresource("scale").Kind.Group)
	// Output: apps/v1 DeploymentList [get list] autoscaling
}
