package kinds_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/schema"
)

// A resource whose conversion changes only apiVersion has the same fields in all
// versions.
func TestRenamedVersionsHaveSameFields(t *testing.T) {
	for _, name := range release.Names() {
		r, err := release.Open(name)
		require.NoError(t, err)
		types := kinds.Types(r)
		for _, typ := range types {
			if !kinds.IsRenamed(typ) || typ.GroupVersion == typ.Stored {
				continue
			}
			t.Run(name+" "+typ.GroupVersion.String()+" "+typ.Name, func(t *testing.T) {
				require.NotNil(t, typ.Versions)
				stored := typ.Storage()
				require.NotSame(t, typ, stored)
				if slices.Contains(types, stored) { // the release has schemas of served versions
					assert.Equal(t, fieldPaths(t, r, stored), fieldPaths(t, r, typ))
				}
				obj := kindtest.Decode(t, stored, `{"metadata":{"name":"a"}}`)
				assert.Equal(t, obj, kindtest.Convert(t, stored, kindtest.Convert(t, typ, obj)))
			})
		}
	}
}

// fieldPaths returns the paths and types of all fields of a type of a release.
func fieldPaths(t testing.TB, r *release.Release, typ *resource.Type) []string {
	t.Helper()
	s, ok := schema.ForKind(r, typ.Group, typ.Version, typ.Kind)
	require.True(t, ok)
	return schemaFieldPaths(s, typ.Kind)
}

func schemaFieldPaths(s *schema.Schema, path string) []string {
	if s == nil {
		return nil
	}
	out := []string{path + " " + s.Type}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		out = append(out, schemaFieldPaths(s.Properties[name], path+"."+name)...)
	}
	return append(append(out, schemaFieldPaths(s.Items, path+"[]")...), schemaFieldPaths(s.Additional, path+"{}")...)
}

// Objects are stored in the form that strategies are written for, also in releases that do not
// serve it.
func TestUnservedStorageVersion(t *testing.T) {
	for name, versions := range map[string][]string{"v1.32.13-all": {"v1beta1"}, "v1.33.13-all": {"v1beta1", "v1beta2"}} {
		t.Run(name, func(t *testing.T) {
			r, err := release.Open(name)
			require.NoError(t, err)
			types := kinds.Types(r)
			for _, version := range versions {
				i := slices.IndexFunc(types, func(t *resource.Type) bool {
					return t.GroupVersion == resource.GroupVersion{Group: "resource.k8s.io", Version: version} && t.Name == "resourceclaims"
				})
				require.GreaterOrEqual(t, i, 0, version)
				stored := types[i].Storage()
				assert.Equal(t, "v1", stored.Version)
				assert.NotContains(t, types, stored, "served")
				obj := kindtest.Decode(t, stored, `{"metadata":{"name":"a"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}}}`)
				assert.Equal(t, obj, kindtest.Convert(t, stored, kindtest.Convert(t, types[i], obj)))
			}
		})
	}
}
