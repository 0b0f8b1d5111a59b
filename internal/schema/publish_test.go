package schema_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/wire"
)

// TestPublish compares published schemas with those of kube-apiserver v1.36.3.
func TestPublish(t *testing.T) {
	text, err := os.ReadFile("testdata/published.json")
	require.NoError(t, err)
	recorded, _, err := wire.DecodeUntyped(text, wire.DecodeOptions{})
	require.NoError(t, err)
	in := object.Map(recorded, "props")
	kept := object.Copy(in)
	assert.Equal(t, recorded["v3"], any(schema.PublishV3(in, schema.PublishOptions{})))
	assert.Equal(t, recorded["v2"], any(schema.PublishV2(in, schema.PublishOptions{})))
	assert.Equal(t, kept, in)
}

func TestPublishAnything(t *testing.T) {
	anything := map[string]any{"type": "object"}
	for name, text := range map[string]string{
		"not structural": `{properties: {a: {}}}`,
		"not supported":  `{type: object, properties: {a: {type: string, $ref: x}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, anything, schema.PublishV3(props(t, text), schema.PublishOptions{}))
			assert.Equal(t, anything, schema.PublishV2(props(t, text), schema.PublishOptions{}))
		})
	}
	t.Run("no schema", func(t *testing.T) {
		assert.Equal(t, anything, schema.PublishV3(nil, schema.PublishOptions{}))
	})
	t.Run("preserved", func(t *testing.T) {
		p := props(t, `{type: object, x-kubernetes-preserve-unknown-fields: true}`)
		assert.Equal(t, anything, schema.PublishV2(p, schema.PublishOptions{}))
		assert.Contains(t, schema.PublishV3(p, schema.PublishOptions{})["properties"], "metadata")
	})
}

// A resource that is an embedded resource itself has the descriptions of one.
func TestPublishEmbeddedRoot(t *testing.T) {
	p := schema.PublishV3(props(t, `{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"a":{"type":"string"}},"required":["a"]}`), schema.PublishOptions{})
	assert.Equal(t, []any{"a", "kind", "apiVersion"}, p["required"])
	kind, _ := p["properties"].(map[string]any)["kind"].(map[string]any)
	assert.Contains(t, kind["description"], "kind is a string value representing the type of this object.")
}

func TestPublishExamples(t *testing.T) {
	for example, want := range map[string]any{`{}`: nil, `[]`: nil, `""`: nil, `0`: int64(0), `false`: false, `[[]]`: []any{[]any{}}} {
		p := schema.PublishV3(props(t, `{"type":"object","properties":{"a":{"type":"string","example":`+example+`}}}`), schema.PublishOptions{})
		assert.EqualValues(t, want, p["properties"].(map[string]any)["a"].(map[string]any)["example"], example)
	}
}

func TestForApply(t *testing.T) {
	meta := &schema.Schema{Name: "Meta"}
	s := fromProps(t, `{type: object, properties: {metadata: {type: object}, spec: {type: object, properties: {d: {type: string, format: date}, l: {type: array, items: {type: object, x-kubernetes-embedded-resource: true, properties: {a: {type: string}}}}}}}}`)
	described := s.ForApply(meta)
	assert.Same(t, meta, described.Properties["metadata"])
	assert.Equal(t, "string", described.Properties["kind"].Type)
	assert.Equal(t, "date", described.Properties["spec"].Properties["d"].Format)
	embedded := described.Properties["spec"].Properties["l"].Items
	assert.Same(t, meta, embedded.Properties["metadata"])
	assert.Contains(t, embedded.Properties, "a")
	assert.NotContains(t, s.Properties, "kind", "the schema is not changed")
	assert.Nil(t, (*schema.Schema)(nil).ForApply(meta))
}
