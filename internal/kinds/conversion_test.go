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

// Resources of the same shape have the same members in all their versions.
func TestSameShape(t *testing.T) {
	for _, typ := range kindtest.AllTypes(t) {
		if !kinds.IsRenamed(typ) || typ.GroupVersion == typ.Stored {
			continue
		}
		t.Run(typ.GroupVersion.String()+" "+typ.Name, func(t *testing.T) {
			require.NotNil(t, typ.Versions)
			stored := typ.Storage()
			require.NotSame(t, typ, stored)
			assert.Equal(t, members(t, stored), members(t, typ))
			obj := kindtest.Decode(t, stored, `{"metadata":{"name":"a"}}`)
			assert.Equal(t, obj, kindtest.Convert(t, stored, kindtest.Convert(t, typ, obj)))
		})
	}
}

// members are the paths of everything that a type's objects can have.
func members(t testing.TB, typ *resource.Type) []string {
	t.Helper()
	p, err := release.Open("v1.36-all")
	require.NoError(t, err)
	s, ok := schema.ForKind(p, typ.Group, typ.Version, typ.Kind)
	require.True(t, ok)
	return schemaMembers(s, typ.Kind)
}

func schemaMembers(s *schema.Schema, path string) []string {
	if s == nil {
		return nil
	}
	out := []string{path + " " + s.Type}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		out = append(out, schemaMembers(s.Properties[name], path+"."+name)...)
	}
	return append(append(out, schemaMembers(s.Items, path+"[]")...), schemaMembers(s.Additional, path+"{}")...)
}
