package crd

import (
	"context"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
)

func TestRecentSchemas(t *testing.T) {
	var c recentSchemas
	props := map[string]any{"type": "object"}
	s := &schema.Schema{}
	c.put(props, s)

	other, err := c.take(maps.Clone(props))
	require.NoError(t, err)
	assert.NotSame(t, s, other, "the schema of another map")
	kept, err := c.take(props)
	require.NoError(t, err)
	assert.Same(t, s, kept)
	again, err := c.take(props)
	require.NoError(t, err)
	assert.NotSame(t, s, again, "it was taken")

	c.put(props, s)
	for range maxRecent {
		c.put(map[string]any{}, &schema.Schema{})
	}
	assert.Nil(t, c.remove(props), "newer ones take its place")

	_, err = c.take(map[string]any{"$ref": "x"})
	assert.EqualError(t, err, "OpenAPIV3Schema '$ref' is not supported")
}

// TestSchemasAreReadOnce checks that New takes the schema that Validate has read.
func TestSchemasAreReadOnce(t *testing.T) {
	props := map[string]any{"type": "object"}
	names := map[string]any{"plural": "ws", "singular": "w", "kind": "W", "listKind": "WList"}
	obj := map[string]any{
		"spec": map[string]any{"group": "example.com", "names": names, "versions": []any{
			map[string]any{"name": "v1", "storage": true, "served": true, "schema": map[string]any{"openAPIV3Schema": props}},
		}},
		"status": map[string]any{"acceptedNames": names, "conditions": []any{map[string]any{"type": established, "status": "True"}}},
	}
	Rules{}.Validate(context.Background(), obj, object.View{})
	s := validated.remove(props)
	require.NotNil(t, s)
	validated.put(props, s)
	require.Len(t, New(object.ViewOf(obj), nil, Options{}).Types, 1)
	assert.Nil(t, validated.remove(props))
}
