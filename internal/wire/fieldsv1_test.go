package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
)

// managed returns the fieldsV1 of a ConfigMap that is decoded from JSON with it.
func managed(t *testing.T, fields string) (v any, err error) {
	t.Helper()
	typ, ok := wire.ForKind("", "v1", "ConfigMap")
	require.True(t, ok)
	obj, _, err := typ.Decode([]byte(`{"metadata":{"managedFields":[{"fieldsV1":`+fields+`}]}}`), wire.DecodeOptions{})
	if err != nil {
		return nil, err
	}
	return object.List(obj, "metadata", "managedFields")[0].(map[string]any)["fieldsV1"], nil
}

func TestDecodeFieldsV1(t *testing.T) {
	for _, row := range []struct{ name, fields, want string }{
		{"empty", `{}`, `{}`},
		{"canonical", `{"f:a":{".":{},"f:b":{}},"f:c":{"k:{\"name\":\"x\"}":{}}}`, `{"f:a":{".":{},"f:b":{}},"f:c":{"k:{\"name\":\"x\"}":{}}}`},
		{"space", ` { "f:a" : { } } `, `{"f:a":{}}`},
		{"order", `{"f:b":{},"f:a":{}}`, `{"f:a":{},"f:b":{}}`},
		{"order around an escape", `{"k:{\"b\":\"!\"}":{},"k:{\"b\":\"\"}":{}}`, `{"k:{\"b\":\"!\"}":{},"k:{\"b\":\"\"}":{}}`},
		{"duplicate", `{"f:a":{"f:b":{}},"f:a":{}}`, `{"f:a":{}}`},
		{"other escapes", `{"f:\u0061":{},"v:\"\\n\"":{}}`, `{"f:a":{},"v:\"\\n\"":{}}`},
		{"characters that are escaped", `{"v:\"<é>\"":{}}`, `{"v:\"\u003cé\u003e\"":{}}`},
		{"null below", `{"f:a":null}`, `{"f:a":null}`},
		{"no object", `[1, "x"]`, `[1,"x"]`},
		{"number", `1.50`, `1.5`},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := managed(t, row.fields)
			require.NoError(t, err)
			assert.Equal(t, object.FieldsV1(row.want), got)
		})
	}
	got, err := managed(t, `null`)
	require.NoError(t, err)
	assert.Nil(t, got)
	for _, broken := range []string{`{"f:a":{}`, `{"f:a":{},}`, `{"f:a":{}"f:b":{}}`, `{"f:a"}`, `{"f:a":{}}}`, `{"f:\`} {
		_, err := managed(t, broken)
		var syntax *json.SyntaxError
		assert.ErrorAs(t, err, &syntax, broken)
	}
}

// FuzzDecodeFieldsV1 checks that field sets decode to what encoding their value again
// returns, whether they have that form or not.
func FuzzDecodeFieldsV1(f *testing.F) {
	f.Add(`{"f:a":{".":{},"k:{\"name\":\"x\"}":{"f:b":{}},"v:1":{}},"i:0":{}}`)
	f.Add(`{"a\"":{},"a!":{},"a#":{}}`)
	f.Add(`{"a":{},"a\\\"":{},"ab":{}}`)
	f.Fuzz(func(t *testing.T, fields string) {
		v, _, err := wire.DecodeUntyped([]byte(`{"v":`+fields+`}`), wire.DecodeOptions{})
		if err != nil || len(v) != 1 || v["v"] == nil {
			return
		}
		got, err := managed(t, fields)
		require.NoError(t, err)
		assert.Equal(t, object.FieldsV1(wire.AppendAny(nil, v["v"])), got)
	})
}

// TestEncodeFieldsV1 checks that each format encodes a field set as it encodes the
// equivalent map.
func TestEncodeFieldsV1(t *testing.T) {
	typ, ok := wire.ForKind("", "v1", "ConfigMap")
	require.True(t, ok)
	obj := func(fields any) map[string]any {
		entry := map[string]any{"manager": "m", "fieldsV1": fields}
		return map[string]any{"metadata": map[string]any{"managedFields": []any{entry}}}
	}
	text := object.FieldsV1(`{"f:a":{".":{},"k:{\"port\":1}":{}},"f:b":{}}`)
	asText, asMap := obj(text), obj(text.Value())
	assert.Equal(t, typ.Append(nil, asMap), typ.Append(nil, asText))
	assert.Equal(t, typ.AppendCBOR(nil, asMap), typ.AppendCBOR(nil, asText))
	assert.Equal(t, typ.AppendProto(nil, asMap), typ.AppendProto(nil, asText))
	plain, err := json.Marshal(asText)
	require.NoError(t, err)
	assert.JSONEq(t, string(wire.AppendAny(nil, asMap)), string(plain))
	back, err := typ.DecodeProto(typ.AppendProto(nil, asText))
	require.NoError(t, err)
	assert.Equal(t, text, object.List(back, "metadata", "managedFields")[0].(map[string]any)["fieldsV1"])
}
