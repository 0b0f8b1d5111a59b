package storage

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/wire"
)

// A message has what the JSON has, and is made once for each type.
func TestMessage(t *testing.T) {
	kind := resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "ConfigMap"}
	typ := &resource.Type{Name: "configmaps", Kind: "ConfigMap", GroupVersion: kind.GroupVersion, Codec: resource.BuiltinCodec(kind), Strategy: &resource.Strategy{}}
	obj := map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": "a", "namespace": "n"}, "data": map[string]any{"k": "v"}}
	o := New(typ, obj, nil).At(7)

	first := o.Message(typ.Codec.Wire())
	decoded, err := typ.Codec.Wire().DecodeProto(first)
	require.NoError(t, err)
	assert.Equal(t, "7", decoded["metadata"].(map[string]any)["resourceVersion"])
	assert.Equal(t, map[string]any{"k": "v"}, decoded["data"])
	assert.Same(t, &first[0], &o.Message(typ.Codec.Wire())[0])

	older, ok := wire.ForKindIn(32, "", "v1", "ConfigMap")
	require.True(t, ok)
	assert.NotSame(t, &first[0], &o.Message(older)[0])

	before := o.Decoded(typ)
	edit := before.Object().Edit()
	edit.Set("w", "data", "k")
	next := encode(typ, edit.Map(), before.View().SharedMembers(), o).At(8)
	next.KeepDraft(typ, before, nil, false, 10)
	assert.NotSame(t, &first[0], &o.Message(typ.Codec.Wire())[0], "nobody needs the old version")
	assert.Contains(t, string(next.Message(typ.Codec.Wire())), "w")
}
