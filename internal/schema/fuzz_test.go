package schema_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// FuzzDefinition checks that no openAPIV3Schema makes a function panic.
func FuzzDefinition(f *testing.F) {
	for _, seed := range []string{
		`{"type":"object","properties":{"a":{"type":"string","default":"x","pattern":"^a"}},"required":["a"]}`,
		`{"type":"object","nullable":true,"properties":{"metadata":{"type":"object","properties":{"name":{"default":5}}}}}`,
		`{"type":"array","items":[{"type":"string"}],"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"]}`,
		`{"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]}],"not":{"properties":{"a":{"items":{}}}},"x-kubernetes-int-or-string":true}`,
		`{"type":"object","x-kubernetes-validations":[{"rule":"a\n","fieldPath":".a['b']","reason":"x"},5],"additionalProperties":false}`,
		`{"properties":null,"items":5,"required":[1],"enum":{},"minimum":"x","maxLength":1.5,"dependencies":{"a":["b"]},"definitions":{"x":{}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, _, err := wire.DecodeUntyped(text, wire.DecodeOptions{})
		if err != nil {
			t.Skip()
		}
		kept := object.Copy(p)
		path := validation.NewPath("s")
		_, list := schema.DefinitionCheck{Status: true, Rules: &rules{}}.Check(p, path)
		_ = list.Message()
		schema.PublishV2(p, schema.PublishOptions{})
		schema.PublishV3(p, schema.PublishOptions{})
		assert.True(t, object.Equal(kept, p), "the schema was changed")
	})
}

// fuzzedSchema returns the schema of a text. It skips the test if the text has none.
func fuzzedSchema(t *testing.T, props []byte) *schema.Schema {
	p, _, err := wire.DecodeUntyped(props, wire.DecodeOptions{})
	if err != nil {
		t.Skip()
	}
	s, err := schema.FromProps(p)
	if err != nil {
		t.Skip()
	}
	return s
}

// FuzzObject checks that no object makes a function panic.
func FuzzObject(f *testing.F) {
	for _, seed := range [][3]string{
		{`{"type":"object","properties":{"a":{"type":"string","format":"date"}},"required":["b"]}`, `{"a":"x"}`, `{"a":[1]}`},
		{`{"type":"object","additionalProperties":{"type":"integer","multipleOf":0,"maximum":1.5,"enum":[1,"a",null]}}`, `{"a":5,"b":null}`, `{"a":5}`},
		{`{"type":"array","items":{"x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}`, `{"metadata":{"name":1}}`, `{"kind":5}`},
		{`{"properties":{"l":{"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"default":{"k":1},"oneOf":[{"maxProperties":1},{"not":{}}]}}}}`, `{"l":[{"k":1},null,5]}`, `{"l":[{"k":1},{"k":1}]}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), []byte(seed[2]))
	}
	f.Fuzz(func(t *testing.T, props, first, second []byte) {
		s := fuzzedSchema(t, props)
		obj, _, err := wire.DecodeUntyped(first, wire.DecodeOptions{})
		if err != nil {
			t.Skip()
		}
		old, _, err := wire.DecodeUntyped(second, wire.DecodeOptions{})
		if err != nil {
			t.Skip()
		}
		_, _ = s.Coerce(old, schema.CoerceOptions{DropInvalid: true})
		if _, err := s.Coerce(obj, schema.CoerceOptions{Strict: true}); err != nil {
			t.Skip()
		}
		next := map[string]any{"a": "b"}
		for name, v := range obj { // shares its fields
			next[name] = v
		}
		assert.Equal(t, texts(s.Validate(next, obj, nil)), texts(schema.Options{Pruned: true}.Validate(s, next, obj, nil)))
		sharing, before := maps.Clone(obj), object.Copy(obj)
		s.SetDefaults(obj)
		assert.Equal(t, before, sharing)
		list := append(s.Validate(obj, old, nil), s.Validate(obj, nil, validation.NewPath("s"))...)
		list = append(list, s.ValidateEmbedded(obj, nil)...)
		list = append(list, s.ValidateLists(obj, nil)...)
		_ = list.Message()
		assert.Equal(t, texts(s.Validate(obj, old, nil)), texts(s.Validate(obj, old, nil)))
	})
}

// FuzzCoerceDecoded checks that Coerce does the same with metadata that wire.DecodeCustom has
// decoded.
func FuzzCoerceDecoded(f *testing.F) {
	const embedded = `{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}`
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}}`, `{"kind":"A","metadata":{"name":"a","labels":{},"finalizers":[],"managedFields":[]},"spec":{"a":null,"b":1},"c":2}`},
		{`{"type":"object","properties":{"e":` + embedded + `,"metadata":{"type":"object","properties":{"name":{"type":"string"},"labels":{"type":"object"}}}}}`, `{"metadata":{"labels":{"a":null}},"e":{"metadata":{"name":"a","a":1,"labels":{}}}}`},
		{`{"type":"object"}`, `{"kind":5,"metadata":{}}`},
		{embedded, `{"apiVersion":"v1","metadata":{"name":"a"},"spec":null}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, props, text []byte) {
		s := fuzzedSchema(t, props)
		obj, ok := wire.DecodeCustom(text)
		if !ok {
			t.Skip()
		}
		want, _, err := wire.DecodeUntyped(text, wire.DecodeOptions{})
		require.NoError(t, err)
		wantUnknown, wantErr := s.Coerce(want, schema.CoerceOptions{Strict: true})
		unknown, err := s.Coerce(obj, schema.CoerceOptions{Strict: true, MetadataDecoded: true})
		require.Equal(t, wantErr, err)
		if err == nil {
			assert.Equal(t, wantUnknown, unknown)
			assert.Equal(t, want, obj)
		}
	})
}
