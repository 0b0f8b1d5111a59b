package kinds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

func TestEveryStrategyIsServed(t *testing.T) {
	served := map[string]bool{}
	for _, typ := range kindtest.AllTypes(t) {
		served[kindtest.GroupResource(typ)] = true
	}
	for _, name := range kinds.StrategyNames() {
		assert.True(t, served[name], "no release serves %s", name)
	}
}

func TestEveryKindDecodes(t *testing.T) {
	for _, name := range release.Names() {
		p, err := release.Open(name)
		require.NoError(t, err)
		for _, typ := range kinds.Types(p.Types()) {
			if typ.Virtual() {
				continue
			}
			obj, strict, err := typ.Codec.Decode([]byte(`{"metadata":{"name":"a"}}`), true)
			require.NoError(t, err, "%s: %s", name, typ.Kind)
			require.Empty(t, strict)
			require.Contains(t, string(typ.Codec.Append(nil, obj)), `"metadata":{"name":"a"}`)
		}
	}
}

func TestStoragePrefixes(t *testing.T) {
	p, err := release.Open("v1.36-all")
	require.NoError(t, err)
	places := map[string]*resource.Type{}
	for _, typ := range kinds.Types(p.Types()) {
		if typ.Virtual() {
			continue
		}
		if other := places[typ.Prefix]; other != nil {
			assert.Equal(t, other.Name, typ.Name, "two resources share a prefix")
			assert.Equal(t, other.Stored, typ.Stored, "one resource stored in two versions")
		}
		places[typ.Prefix] = typ
	}
	assert.Contains(t, places, "/pods/")
	assert.Contains(t, places, "/deployments.apps/")
}

func TestMinimalObjectsAreCanonical(t *testing.T) {
	for _, typ := range kindtest.AllTypes(t) {
		if typ.Strategy == nil || typ.Default == nil {
			continue
		}
		t.Run(typ.GroupVersion.String()+" "+typ.Kind, func(t *testing.T) {
			obj := kindtest.Decode(t, typ, `{"metadata":{"name":"a"}}`)
			normal, _, err := typ.Codec.Normalize(obj, true)
			require.NoError(t, err)
			assert.Equal(t, normal, obj)
			created := object.Copy(obj)
			kindtest.Prepare(typ, created, nil)
			kindtest.Prepare(typ, object.Copy(obj), created)
		})
	}
}

// Validation and warnings accept objects without any fields and do not panic.
func TestValidateMinimalObjects(t *testing.T) {
	for _, typ := range kindtest.AllTypes(t) {
		if typ.Strategy == nil {
			continue
		}
		t.Run(typ.GroupVersion.String()+" "+typ.Kind, func(t *testing.T) {
			obj := kindtest.Create(t, typ, `{"metadata":{"name":"a"}}`)
			for _, validate := range []func(obj, old map[string]any) validation.List{typ.Validate, typ.SubresourceStrategies["status"].Validate} {
				if validate != nil {
					validate(obj, nil)
					validate(object.Copy(obj), obj)
				}
			}
			for _, warn := range []func(obj, old map[string]any) []string{typ.WarningsOnWrite, typ.SubresourceStrategies["status"].WarningsOnWrite} {
				if warn != nil {
					warn(obj, nil)
					warn(object.Copy(obj), obj)
				}
			}
		})
	}
}
