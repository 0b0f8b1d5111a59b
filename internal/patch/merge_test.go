//go:build go1.24

package patch_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/wire"
)

// merge parses and applies a merge patch.
func merge(doc, body []byte) ([]byte, error) {
	p, err := patch.ParseMerge(body, false)
	if err != nil {
		return nil, err
	}
	return p.ApplyText(doc)
}

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
			got, err := merge([]byte(doc), []byte(tt.patch))
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(got))
		})
	}
	for _, body := range []string{``, `{"a"`, `null`, `5`} {
		t.Run("malformed/"+body, func(t *testing.T) {
			_, err := merge([]byte(doc), []byte(body))
			var malformed *patch.MalformedError
			require.ErrorAs(t, err, &malformed)
			assert.EqualError(t, err, "Invalid JSON Patch")
		})
	}
}

// Objects that a merge does not change keep the order of their members, which errors show.
func TestMergeKeepsOrder(t *testing.T) {
	got, err := merge([]byte(`{"z":{"b":1,"a":2},"m":{"d":[{"y":1,"x":2}],"c":1}}`), []byte(`{"m":{"c":2,"e":{"h":1,"g":null,"f":2}}}`))
	require.NoError(t, err)
	assert.Equal(t, `{"m":{"c":2,"d":[{"y":1,"x":2}],"e":{"f":2,"h":1}},"z":{"b":1,"a":2}}`, string(got))
}

func TestParseMerge(t *testing.T) {
	p, err := patch.ParseMerge([]byte(`{"a":{"b":1,"b":2},"l":[{"x":1,"x":1}],"a":{}}`), true)
	require.NoError(t, err)
	assert.Equal(t, `[duplicate field "a.b" duplicate field "l[0].x" duplicate field "a"]`, fmt.Sprint(p.FieldErrors))

	p, err = patch.ParseMerge([]byte(`null`), true)
	require.NoError(t, err)
	assert.Empty(t, p.FieldErrors)

	_, err = patch.ParseMerge([]byte(`[]`), true)
	var malformed *patch.MalformedError
	require.ErrorAs(t, err, &malformed)
	assert.EqualError(t, err, "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}")
}

func TestMergeApply(t *testing.T) {
	list := []any{int64(1)}
	obj := map[string]any{"a": map[string]any{"b": list, "c": "d"}, "e": nil}
	for _, tt := range []struct {
		name, patch string
		want        map[string]any // nil if ApplyText has to be used
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
			p, err := patch.ParseMerge([]byte(tt.patch), false)
			require.NoError(t, err)
			got, ok := p.Apply(obj)
			assert.Equal(t, tt.want != nil, ok)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, map[string]any{"a": map[string]any{"b": list, "c": "d"}, "e": nil}, obj, "the argument must not change")
		})
	}
}

// FuzzMerge checks that the result of a patch is JSON, that Apply and ApplyText
// agree and do not change their argument, and that a second application of the patch has
// the same result.
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
	before := object.Copy(obj)
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = patch.ParseMerge(body, true)
		p, err := patch.ParseMerge(body, false)
		require.NoError(t, err)
		text, err := p.ApplyText([]byte(doc))
		merged, ok := p.Apply(obj)
		kept := object.Copy(merged)
		again, againErr := p.ApplyText([]byte(doc))
		assert.Equal(t, err, againErr)
		assert.Equal(t, text, again)
		second, secondOK := p.Apply(obj)
		assert.Equal(t, ok, secondOK)
		assert.Equal(t, kept, second)
		assert.Equal(t, kept, merged, "the second application changed the first result")
		assert.Equal(t, before, obj)
		if err != nil {
			assert.False(t, ok, "%v", err)
			return
		}
		assert.True(t, json.Valid(text), "%s", text)
		library, err := jsonpatch.MergePatch([]byte(doc), body)
		require.NoError(t, err)
		assert.Equal(t, compactJSON(t, library), compactJSON(t, text))
		if ok {
			want, _, err := wire.DecodeUntyped(text, wire.DecodeOptions{})
			require.NoError(t, err)
			assert.Equal(t, want, merged)
		}
	})
}

// compactJSON returns JSON without white space, and with < > & escaped, as the library has it.
func compactJSON(t *testing.T, body []byte) string {
	out, err := json.Marshal(json.RawMessage(body))
	require.NoError(t, err)
	return string(out)
}

// The memory, and so the time, that a patch takes grows with its size, whatever the nesting. The
// library decodes each level again with all that is below it.
func TestMergeOfNestedObjects(t *testing.T) {
	nested := func(depth int) []byte {
		return []byte(strings.Repeat(`{"a":`, depth) + `1.5` + strings.Repeat(`}`, depth))
	}
	for _, doc := range [][]byte{[]byte(`{}`), nested(9000)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := merge(doc, nested(9000))
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		assert.Equal(t, string(nested(9000)), string(got))
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
	}
	_, err := merge([]byte(`{}`), nested(10001))
	assert.EqualError(t, err, "Invalid JSON Patch")
}

func BenchmarkMerge(b *testing.B) {
	doc := []byte(`{"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"i"}]}}`)
	body := []byte(`{"metadata":{"labels":{"c":"d"}}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := merge(doc, body); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleParseMerge() {
	p, err := patch.ParseMerge([]byte(`{"data": {"a": null, "c": "3", "c": "4"}}`), true)
	if err != nil {
		panic(err)
	}
	out, err := p.ApplyText([]byte(`{"data":{"a":"1","b":"2"}}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(string(out), p.FieldErrors)
	// Output: {"data":{"b":"2","c":"4"}} [duplicate field "data.c"]
}
