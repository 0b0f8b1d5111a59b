package fieldmanager

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

// TestApplyDefaults checks what an apply makes of defaults that are set in the values of the
// configuration.
func TestApplyDefaults(t *testing.T) {
	k := custom(t, `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object, properties: {name: {type: string}, annotations: {type: object, additionalProperties: {type: string}}}}
  spec: {type: object, x-kubernetes-map-type: atomic, properties: {size: {type: integer}, color: {type: string}}}
`)
	k.kind.Finish = func(_, merged map[string]any) (map[string]any, error) {
		object.SetDefault(object.Map(merged, "spec"), "size", int64(1))
		return merged, nil
	}
	configuration := func(color string) map[string]any {
		return parse(t, "{apiVersion: ex.com/v1, kind: Foo, metadata: {name: w, annotations: {"+lastApplied+": x}}, spec: {color: "+color+"}}")
	}
	o := Options{Manager: kubectl}
	live, err := k.Apply(object.View{}, configuration("red"), o)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"color": "red", "size": int64(1)}, live["spec"])
	assert.Equal(t, `{"apiVersion":"ex.com/v1","kind":"Foo","metadata":{"annotations":{},"name":"w"},"spec":{"color":"red"}}`+"\n",
		object.String(live, "metadata", "annotations", lastApplied), "the annotation has no defaults")

	again, err := k.Apply(object.ViewOf(live), configuration("red"), o)
	require.NoError(t, err)
	assert.True(t, object.Same(live["spec"], again["spec"]), "the result shares a value that equals the live one with its defaults")

	other, err := k.Apply(object.ViewOf(live), configuration("blue"), o)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"color": "blue", "size": int64(1)}, other["spec"])
	assert.Equal(t, "red", object.String(live, "spec", "color"), "the live object must not change")
}
