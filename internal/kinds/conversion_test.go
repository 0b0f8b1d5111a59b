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
		for _, typ := range kinds.Types(r) {
			if !kinds.IsRenamed(typ) || typ.GroupVersion == typ.Stored {
				continue
			}
			t.Run(name+" "+typ.GroupVersion.String()+" "+typ.Name, func(t *testing.T) {
				require.NotNil(t, typ.Versions)
				stored := typ.Storage()
				require.NotSame(t, typ, stored)
				assert.Equal(t, fieldPaths(t, r, stored), fieldPaths(t, r, typ))
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
