package wire

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecodeUntyped(t *testing.T) {
	obj, fieldErrors, err := DecodeUntyped([]byte(`{"a":[1,1.5,9223372036854775808,null,[]],"b":{"c":1,"c":{}},"b":[{"d":0,"d":0}]}`), DecodeOptions{Strict: true})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"a": []any{int64(1), 1.5, 9223372036854775808.0, nil, []any{}},
		"b": []any{map[string]any{"d": int64(0)}},
	}, obj)
	assert.Equal(t, `[duplicate field "b.c" duplicate field "b" duplicate field "b[0].d"]`, fmt.Sprint(fieldErrors))

	obj, fieldErrors, err = DecodeUntyped([]byte(` null `), DecodeOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{}, obj)
	assert.Empty(t, fieldErrors)

	for in, want := range map[string]string{
		``:            "unexpected end of JSON input",
		`{}{}`:        "invalid character '{' after top-level value",
		`[]`:          "json: cannot unmarshal array into Go value of type map[string]interface {}",
		`"x"`:         "json: cannot unmarshal string into Go value of type map[string]interface {}",
		`{"a":1e999}`: "json: cannot unmarshal number 1e999 into Go value of type float64",
	} {
		t.Run("error/"+in, func(t *testing.T) {
			_, _, err := DecodeUntyped([]byte(in), DecodeOptions{})
			assert.EqualError(t, err, want)
		})
	}
}

// FuzzDecodeUntyped checks that DecodeUntyped accepts what encoding/json
// accepts and returns the same value.
func FuzzDecodeUntyped(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,-0,1e5,"\u00e9",null,true]},"a":1}`))
	f.Add([]byte(`{"a":-0e0}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		obj, _, err := DecodeUntyped(data, DecodeOptions{Strict: true})
		var want map[string]any
		wantErr := json.Unmarshal(data, &want)
		require.Equal(t, wantErr == nil, err == nil, "%v, %v", err, wantErr)
		if err != nil {
			return
		}
		text := appendAny(nil, obj)
		var got map[string]any
		require.NoError(t, json.Unmarshal(text, &got))
		if want == nil { // a null
			want = map[string]any{}
		}
		require.Equal(t, want, got)
		again, fieldErrors, err := DecodeUntyped(text, DecodeOptions{Strict: true})
		require.NoError(t, err)
		assert.Empty(t, fieldErrors)
		assert.Equal(t, string(text), string(appendAny(nil, again)))
		if isCanonicalAny(obj, nil) {
			assert.Equal(t, obj, again)
		}
	})
}
