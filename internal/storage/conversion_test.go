//go:build go1.24

package storage

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/wire"
)

// versioned is the codec of one version of things.
type versioned struct {
	plain
	apiVersion string
}

func (c *versioned) Append(dst []byte, obj map[string]any) []byte {
	return fmt.Appendf(dst, `{"kind":"Thing","apiVersion":%q,"metadata":{"name":%q,"uid":%q},"data":%q}`,
		c.apiVersion, object.String(obj, "metadata", "name"), object.String(obj, "metadata", "uid"), object.String(obj, "data"))
}

func (c *versioned) EncodeStored(obj, _ map[string]any, _ *wire.Encoded) wire.Encoded {
	return wire.NewEncoded(c.Append(nil, obj))
}

var errConversion = errors.New("no conversion")

// versions returns the types of things in v1 and v2, of which v1 is the storage
// version. They count conversions in count. A converted object has the number of
// objects that were converted with it.
func versions(count *int) (v1, v2 *resource.Type) {
	strategy := &resource.Strategy{SelectableFields: []resource.Field{{Label: "data", Value: func(obj map[string]any) string { return object.String(obj, "data") }}}}
	all := make([]*resource.Type, 2)
	for i, version := range []string{"v1", "v2"} {
		gv := resource.GroupVersion{Group: "things", Version: version}
		all[i] = &resource.Type{
			GroupVersion: gv, Stored: resource.GroupVersion{Group: "things", Version: "v1"}, Kind: "Thing", Prefix: "/things/",
			Codec: &versioned{apiVersion: gv.String()}, Strategy: strategy, Versions: all,
			Convert: func(_ context.Context, objs []map[string]any) ([]map[string]any, error) {
				*count++
				for _, obj := range objs {
					if obj["data"] == "broken" {
						return nil, errConversion
					}
					obj["apiVersion"] = gv.String()
					obj["data"] = fmt.Sprintf("%s in %s of %d", obj["data"], version, len(objs))
				}
				return objs, nil
			},
		}
	}
	return all[0], all[1]
}

func TestConversion(t *testing.T) {
	count := 0
	v1, v2 := versions(&count)
	s := NewStore(clock.New(), Limits{})
	put := func(typ *resource.Type, name, data string) {
		t.Helper()
		draft, err := Draft(t.Context(), typ, map[string]any{"metadata": map[string]any{"name": name, "uid": "u"}, "data": data}, object.View{}, nil)
		require.NoError(t, err)
		_, err = s.Update(func(tx Txn) error {
			tx.Put(typ.Key("", name), draft.At(tx.Revision()))
			return nil
		})
		require.NoError(t, err)
	}
	list := func(typ *resource.Type, q Query) (all []string) {
		t.Helper()
		page, err := s.List(t.Context(), typ, q)
		require.NoError(t, err)
		for o := range page.Items {
			all = append(all, o.Name+": "+o.Fields.At(0))
		}
		return all
	}
	put(v1, "a", "x")
	put(v1, "b", "y")
	assert.Zero(t, count, "the storage version is not converted")

	assert.Equal(t, []string{"a: x", "b: y"}, list(v1, Query{}))
	both := []string{"a: x in v2 of 2", "b: y in v2 of 2"}
	assert.Equal(t, both, list(v2, Query{}), "converted together")
	assert.Equal(t, both, list(v2, Query{Limit: 5}), "the conversions are cached")
	assert.Equal(t, 1, count)

	put(v2, "a", "z")
	assert.Equal(t, []string{"a: z in v1 of 1", "b: y"}, list(v1, Query{}), "written in v2, stored in v1")
	match := Selection{Match: func(o *Object) bool { return o.Fields.At(0) == "z in v1 of 1 in v2 of 1" }}
	assert.Equal(t, []string{"a: z in v1 of 1 in v2 of 1"}, list(v2, Query{Selection: match}), "selected in the requested version")

	w, err := s.Watch(t.Context(), v2, Selection{}, 2)
	require.NoError(t, err)
	defer w.Close()
	changes, err := w.Poll(0)
	require.NoError(t, err)
	require.NotEmpty(t, changes)
	assert.Contains(t, string(changes[0].Object.JSON()), `"apiVersion":"things/v2"`)

	put(v1, "b", "broken")
	_, err = s.List(t.Context(), v2, Query{})
	assert.ErrorIs(t, err, errConversion)
	_, err = s.List(t.Context(), v2, Query{Limit: 5})
	assert.ErrorIs(t, err, errConversion)
	_, err = w.Poll(0)
	assert.ErrorIs(t, err, errConversion)
	assert.Len(t, list(v1, Query{}), 2, "the storage version still works")
	_, err = Draft(t.Context(), v2, map[string]any{"metadata": map[string]any{}, "data": "broken"}, object.View{}, nil)
	assert.ErrorIs(t, err, errConversion)
}
