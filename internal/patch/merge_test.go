package patch_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/wire"
)

func TestMerge(t *testing.T) {
	const doc = `{"a":{"b":[1,2],"c":"d"}}`
	for _, tt := range []struct{ name, patch, want string }{
		{"nothing", `{}`, doc},
		{"objects are merged", `{"a":{"e":{"f":1}}}`, `{"a":{"b":[1,2],"c":"d","e":{"f":1}}}`},
		{"lists are replaced", `{"a":{"b":[]}}`, `{"a":{"b":[],"c":"d"}}`},
		{"null deletes", `{"a":{"b":null,"x":null}}`, `{"a":{"c":"d"}}`},
		{"null in what is new is dropped", `{"x":{"y":null}}`, `{"a":{"b":[1,2],"c":"d"},"x":{}}`},
		{"a list takes the place of all", `[1]`, `[1]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := patch.Merge([]byte(doc), []byte(tt.patch))
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(got))
		})
	}
	for _, body := range []string{``, `{"a"`, `null`, `5`} {
		t.Run("malformed/"+body, func(t *testing.T) {
			_, err := patch.Merge([]byte(doc), []byte(body))
			var malformed *patch.MalformedError
			require.ErrorAs(t, err, &malformed)
			assert.EqualError(t, err, "Invalid JSON Patch")
		})
	}
}

func TestCheckMerge(t *testing.T) {
	fieldErrors, err := patch.CheckMerge([]byte(`{"a":{"b":1,"b":2},"l":[{"x":1,"x":1}],"a":{}}`))
	require.NoError(t, err)
	assert.Equal(t, `[duplicate field "a.b" duplicate field "l[0].x" duplicate field "a"]`, fmt.Sprint(fieldErrors))

	fieldErrors, err = patch.CheckMerge([]byte(`null`))
	require.NoError(t, err)
	assert.Empty(t, fieldErrors)

	_, err = patch.CheckMerge([]byte(`[]`))
	var malformed *patch.MalformedError
	require.ErrorAs(t, err, &malformed)
	assert.EqualError(t, err, "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}")
}

func TestMergeObject(t *testing.T) {
	list := []any{int64(1)}
	obj := map[string]any{"a": map[string]any{"b": list, "c": "d"}, "e": nil}
	for _, tt := range []struct {
		name, patch string
		want        map[string]any // nil if Merge has to be used
	}{
		{"nothing", `{}`, obj},
		{"objects are merged", `{"a":{"c":1}}`, map[string]any{"a": map[string]any{"b": list, "c": int64(1)}, "e": nil}},
		{"null deletes", `{"a":{"b":null},"x":null}`, map[string]any{"a": map[string]any{"c": "d"}, "e": nil}},
		{"an object takes the place of a value", `{"e":{"f":[{}]}}`, map[string]any{"a": obj["a"], "e": map[string]any{"f": []any{map[string]any{}}}}},
		{"null in what is new", `{"e":{"f":null}}`, nil},
		{"null in a list", `{"e":[null]}`, nil},
		{"fraction", `{"a":{"c":1.5}}`, nil},
		{"large number", `{"a":{"c":[9223372036854775808]}}`, nil},
		{"list", `[1]`, nil},
		{"null", `null`, nil},
		{"malformed", `{} x`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := patch.MergeObject(obj, []byte(tt.patch))
			assert.Equal(t, tt.want != nil, ok)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, map[string]any{"a": map[string]any{"b": list, "c": "d"}, "e": nil}, obj, "the argument stays as it is")
		})
	}
}

// FuzzMerge checks that the result of a patch is JSON, and that MergeObject and
// Merge agree.
func FuzzMerge(f *testing.F) {
	const doc = `{"a":{"x":3,"y":{}},"b":[1,{"y":2}],"c":"d"}`
	for _, body := range []string{
		`{"a":{"x":1,"y":null},"b":[null,{"z":null}]}`,
		`[{"a":null}]`,
		` { "c" : 1.50e3 , "c" : {"n":[{}]}, "\u0061":{"y":[{"n":1}]} } `,
		`{"b":{"n":"<&>\"\\  \u2029"},"z":-0,"y":true}`,
		`{"a":{"x":{"n":{}}},"b":null,"c":null}`,
		`{} x`, `"`, ``,
	} {
		f.Add([]byte(body))
	}
	obj, _, err := wire.DecodeUntyped([]byte(doc), wire.DecodeOptions{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = patch.CheckMerge(body)
		text, err := patch.Merge([]byte(doc), body)
		merged, ok := patch.MergeObject(obj, body)
		if err != nil {
			assert.False(t, ok, "%v", err)
			return
		}
		assert.True(t, json.Valid(text), "%s", text)
		if ok {
			want, _, err := wire.DecodeUntyped(text, wire.DecodeOptions{})
			require.NoError(t, err)
			assert.Equal(t, want, merged)
		}
	})
}

func BenchmarkMerge(b *testing.B) {
	doc := []byte(`{"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"i"}]}}`)
	body := []byte(`{"metadata":{"labels":{"c":"d"}}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := patch.Merge(doc, body); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleMerge() {
	out, err := patch.Merge([]byte(`{"data":{"a":"1","b":"2"}}`), []byte(`{"data":{"a":null,"c":"3"}}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(string(out))
	// Output: {"data":{"b":"2","c":"3"}}
}

func ExampleCheckMerge() {
	fieldErrors, err := patch.CheckMerge([]byte(`{"data": {"a": "1", "a": "2"}}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(fieldErrors)
	// Output: [duplicate field "data.a"]
}
