//go:build go1.24

package patch_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/wire"
)

func TestJSON(t *testing.T) {
	const doc = `{"a":{"b":[1,2]},"c":null}`
	for _, tt := range []struct{ name, patch, want string }{
		{"nothing", `[]`, doc},
		{"add", `[{"op":"add","path":"/a/b/1","value":9},{"op":"add","path":"/a/b/-","value":8}]`, `{"a":{"b":[1,9,2,8]},"c":null}`},
		{"remove", `[{"op":"remove","path":"/a"}]`, `{"c":null}`},
		{"replace", `[{"op":"replace","path":"/a/b","value":{}}]`, `{"a":{"b":{}},"c":null}`},
		{"move", `[{"op":"move","from":"/a/b","path":"/d"}]`, `{"a":{},"c":null,"d":[1,2]}`},
		{"copy", `[{"op":"copy","from":"/a/b/0","path":"/c"}]`, `{"a":{"b":[1,2]},"c":1}`},
		{"test", `[{"op":"test","path":"/a/b/0","value":1}]`, doc},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := patch.JSON([]byte(doc), []byte(tt.patch))
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(got))
		})
	}
}

func TestJSONError(t *testing.T) {
	t.Run("malformed", func(t *testing.T) {
		_, err := patch.JSON([]byte(`{}`), []byte(`{}`))
		var malformed *patch.MalformedError
		require.ErrorAs(t, err, &malformed)
		assert.EqualError(t, err, "json: cannot unmarshal object into Go value of type jsonpatch.Patch")
	})
	t.Run("too many", func(t *testing.T) {
		body := []byte("[" + strings.Repeat(`{"op":"test","path":"","value":{}},`, 10000) + `{"op":"test","path":"","value":{}}]`)
		_, err := patch.ParseJSON(body, false)
		var tooMany *patch.TooManyError
		require.ErrorAs(t, err, &tooMany)
		assert.EqualError(t, err, "The allowed maximum operations in a JSON patch is 10000, got 10001")
		_, err = patch.JSON([]byte(`{}`), body)
		require.NoError(t, err, "of admission, which has no limit")
	})
	t.Run("copies that double the object", func(t *testing.T) {
		var operations []string
		for i := range 40 {
			operations = append(operations, fmt.Sprintf(`{"op":"copy","from":"/data","path":"/data/a%d"}`, i))
		}
		_, err := patch.JSON([]byte(`{"data":{"b":"value"}}`), []byte("["+strings.Join(operations, ",")+"]"))
		var inapplicable *patch.InapplicableError
		require.ErrorAs(t, err, &inapplicable)
		assert.ErrorContains(t, err, "exceeding the limit")
	})
	for _, body := range []string{
		`[{"op":"remove","path":"/a"}]`,
		`[{"op":"test","path":"/a","value":1}]`,
		`[{"op":"nope","path":"/a"}]`,
		`[{"op":"replace","path":""}]`, // the library panics
	} {
		t.Run("inapplicable/"+body, func(t *testing.T) {
			_, err := patch.JSON([]byte(`{}`), []byte(body))
			var inapplicable *patch.InapplicableError
			require.ErrorAs(t, err, &inapplicable)
		})
	}
}

func TestParseJSON(t *testing.T) {
	for _, tt := range []struct{ name, patch, want string }{
		{"good", `[{"op":"add","path":"/a","value":{"any":[1]}}]`, `[]`},
		{"no operations", `null`, `[]`},
		{"unknown", `[{"op":"test"},{"foo":1,"Op":2}]`, `[json patch unknown field "[1].foo" json patch unknown field "[1].Op"]`},
		{"duplicate", `[{"op":"add","op":"test","value":{"a":1,"a":2}}]`, `[json patch duplicate field "[0].op" json patch duplicate field "[0].value.a"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := patch.ParseJSON([]byte(tt.patch), true)
			require.NoError(t, err)
			assert.Equal(t, tt.want, fmt.Sprint(p.FieldErrors))
		})
	}
	for _, tt := range []struct{ name, patch, want string }{
		{"an object", `{}`, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"},
		{"a path that is none", `[{"path":1}]`, "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string"},
		{"cut short", `[{`, "error decoding patch: unexpected end of JSON input"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := patch.ParseJSON([]byte(tt.patch), true)
			var malformed *patch.MalformedError
			require.ErrorAs(t, err, &malformed)
			assert.EqualError(t, err, tt.want)
		})
	}
}

func TestJSONApply(t *testing.T) {
	obj := map[string]any{"a": map[string]any{"b/c": "d", "n": int64(1)}, "l": []any{"x", map[string]any{"y": "z"}}, "e": nil}
	before := object.Copy(obj)
	for _, tt := range []struct {
		name, patch string
		want        string // "" if ApplyText has to be used
	}{
		{"add", `[{"op":"add","path":"/a/f","value":{"g":[1]}}]`, `{"a":{"b/c":"d","f":{"g":[1]},"n":1},"l":["x",{"y":"z"}],"e":null}`},
		{"replace a member", `[{"op":"replace","path":"/a/b~1c","value":""}]`, `{"a":{"b/c":"","n":1},"l":["x",{"y":"z"}],"e":null}`},
		{"replace an element", `[{"op":"replace","path":"/l/1/y","value":false},{"op":"replace","path":"/l/0","value":0}]`, `{"a":{"b/c":"d","n":1},"l":[0,{"y":false}],"e":null}`},
		{"elements", `[{"op":"add","path":"/l/0","value":"a"},{"op":"add","path":"/l/3","value":"b"},{"op":"add","path":"/l/-","value":"c"},{"op":"remove","path":"/l/1"}]`,
			`{"a":{"b/c":"d","n":1},"l":["a",{"y":"z"},"b","c"],"e":null}`},
		{"remove", `[{"op":"remove","path":"/a"},{"op":"remove","path":"/e"},{"op":"remove","path":"/l/0"},{"op":"remove","path":"/l/0"}]`, `{"l":[]}`},
		{"tests", `[{"op":"test","path":"/a","value":{"n":1,"b/c":"d"}},{"op":"test","path":"/l/0","value":"x"},{"op":"add","path":"/z","value":1}]`,
			`{"a":{"b/c":"d","n":1},"l":["x",{"y":"z"}],"e":null,"z":1}`},
		{"a test fails", `[{"op":"test","path":"/l/0","value":"y"}]`, ""},
		{"a test of a text with escapes", `[{"op":"test","path":"/l/0","value":"\u0078"}]`, ""},
		{"a test of a zero", `[{"op":"add","path":"/z","value":-0},{"op":"test","path":"/z","value":0}]`, ""},
		{"null", `[{"op":"add","path":"/a/f","value":null}]`, ""},
		{"nested null", `[{"op":"add","path":"/a/f","value":[null]}]`, ""},
		{"fraction", `[{"op":"add","path":"/a/f","value":1.0}]`, ""},
		{"no value", `[{"op":"add","path":"/a/f"}]`, ""},
		{"duplicate members", `[{"op":"add","path":"/a/f","value":{"a":{"b":1},"a":{"c":1}}}]`, ""},
		{"copy", `[{"op":"copy","from":"/a","path":"/b"}]`, ""},
		{"move", `[{"op":"move","from":"/a","path":"/b"}]`, ""},
		{"the root", `[{"op":"replace","path":"","value":{}}]`, ""},
		{"no slash", `[{"op":"remove","path":"x/a"}]`, ""},
		{"missing parent", `[{"op":"add","path":"/x/y","value":1}]`, ""},
		{"missing member", `[{"op":"remove","path":"/a/x"}]`, ""},
		{"missing element", `[{"op":"replace","path":"/l/2","value":1}]`, ""},
		{"index from the end", `[{"op":"replace","path":"/l/-1","value":1}]`, ""},
		{"below a scalar", `[{"op":"add","path":"/a/n/x","value":1}]`, ""},
		{"an operation that is null", `[null]`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := patch.ParseJSON([]byte(tt.patch), false)
			require.NoError(t, err)
			got, ok := p.Apply(obj)
			require.Equal(t, tt.want != "", ok)
			if ok {
				want, _, err := wire.DecodeUntyped([]byte(tt.want), wire.DecodeOptions{})
				require.NoError(t, err)
				assert.Equal(t, want, got)
			}
			assert.Equal(t, before, obj, "the argument must not change")
		})
	}
}

// FuzzJSON checks that the result of a patch is JSON, that Apply and ApplyText agree, and that
// Apply does not change its argument.
func FuzzJSON(f *testing.F) {
	const doc = `{"a":{"x":null},"b":[1,{"y":2}],"c":"d"}`
	for _, body := range []string{
		`[{"op":"add","path":"/a","value":1},{"op":"move","from":"/a","path":"/b/-"}]`,
		`[{"op":"copy","from":"/b/0","path":"/b/-1"},{"op":"test","path":"","value":{}}]`,
		`[{"op":"replace","path":"/~1~0","value":null},{"op":"remove","path":"/b/0"}]`,
		`[{"op":"test","path":"/b","value":[1,{"y":2}]},{"op":"add","path":"/b/1","value":{"z":[{}]}},{"op":"remove","path":"/b/1/z/0"}]`,
		`[{"op":"test","path":"/c","value":"d"},{"op":"replace","path":"/b/+1","value":"<\u003c"},{"op":"remove","path":"/a/x"}]`,
		`[{"op":"add","path":"/b/-","value":-0},{"op":"replace","path":"/a/~01~0","value":true},{"op":"add","path":"/","value":""}]`,
		`[{"op":"add","value":{"a":{},"a":[]},"path":"/c"},{"op":"test","path":"/c","value":1.5,"x":0}]`,
	} {
		f.Add([]byte(body))
	}
	obj, _, err := wire.DecodeUntyped([]byte(doc), wire.DecodeOptions{})
	require.NoError(f, err)
	before := object.Copy(obj)
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = patch.ParseJSON(body, true)
		text, textErr := patch.JSON([]byte(doc), body)
		if textErr == nil {
			assert.True(t, json.Valid(text), "%s", text)
		}
		p, err := patch.ParseJSON(body, false)
		if err != nil {
			assert.Error(t, textErr)
			return
		}
		patched, ok := p.Apply(obj)
		assert.Equal(t, before, obj)
		if !ok {
			return
		}
		require.NoError(t, textErr)
		want, _, err := wire.DecodeUntyped(text, wire.DecodeOptions{})
		require.NoError(t, err)
		assert.Equal(t, want, patched)
	})
}

func BenchmarkJSON(b *testing.B) {
	doc := []byte(`{"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"i"}]}}`)
	body := []byte(`[{"op":"replace","path":"/spec/containers/0/image","value":"j"}]`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := patch.JSON(doc, body); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleJSON() {
	out, err := patch.JSON([]byte(`{"data":{"a":"1"}}`), []byte(`[
		{"op": "test", "path": "/data/a", "value": "1"},
		{"op": "add", "path": "/data/b", "value": "2"}
	]`))
	if err != nil {
		panic(err)
	}
	fmt.Println(string(out))
	// Output: {"data":{"a":"1","b":"2"}}
}

func ExampleParseJSON() {
	p, err := patch.ParseJSON([]byte(`[{"op": "remove", "path": "/data/a", "because": "it is old"}]`), true)
	if err != nil {
		panic(err)
	}
	fmt.Println(p.FieldErrors)
	// Output: [json patch unknown field "[0].because"]
}

// Operations at deep paths have the results that the library has.
func TestJSONBelow(t *testing.T) {
	nested := func(depth int, inner string) []byte {
		return []byte(strings.Repeat(`{"a":[0,`, depth) + inner + strings.Repeat(`],"b":1}`, depth))
	}
	const depth = 20
	path := strings.Repeat("/a/1", depth)
	for _, tt := range []struct{ name, inner, operations string }{
		{"add", `{"x":1}`, `[{"op":"add","path":"P/y","value":1.50}]`},
		{"null", `{"x":1}`, `[{"op":"add","path":"P/y","value":null}]`},
		{"several", `{"x":{"z":null}}`, `[{"op":"test","path":"P/x/z","value":null},{"op":"replace","path":"P/x","value":[1]},{"op":"add","path":"P/x/-","value":2}]`},
		{"copy and move", `{"x":1,"y/z":{}}`, `[{"op":"copy","from":"P/x","path":"P/y~1z/a"},{"op":"move","from":"P/y~1z","path":"P/~0"}]`},
		{"a list", `[1,2]`, `[{"op":"remove","path":"P/0"},{"op":"add","path":"P/-","value":"<"}]`},
		{"nothing there", `{"x":1}`, `[{"op":"remove","path":"P/y"}]`},
		{"nothing below", `1`, `[{"op":"add","path":"P/y","value":1}]`},
		{"a failed test", `{"x":1}`, `[{"op":"add","path":"P/y","value":1},{"op":"test","path":"P/x","value":2}]`},
		{"the parent", `{"x":1}`, `[{"op":"replace","path":"P","value":1}]`},
		{"another branch", `{"x":1}`, `[{"op":"add","path":"P/y","value":1},{"op":"remove","path":"/b"}]`},
		{"no path", `{"x":1}`, `[{"op":"add","path":"P/y","value":1},{"op":"remove"}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, body := nested(depth, tt.inner), []byte(strings.ReplaceAll(tt.operations, "P", path))
			operations, err := jsonpatch.DecodePatch(body)
			require.NoError(t, err)
			want, wantErr := operations.Apply(doc)
			got, err := patch.JSON(doc, body)
			assert.Equal(t, wantErr == nil, err == nil, "%v, not %v", err, wantErr)
			if wantErr == nil {
				assert.JSONEq(t, string(want), string(got))
				return
			}
			assert.IsType(t, &patch.InapplicableError{}, err)
		})
	}
	const levels = 8000 // takes the library ten seconds
	_, err := patch.JSON(nested(levels/2, `{}`), []byte(`[{"op":"add","path":"`+strings.Repeat("/a/1", levels/2)+`/y","value":null}]`))
	assert.NoError(t, err)
}
