//go:build go1.24

package patch_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/patch"
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

// FuzzJSON checks that the result of a patch is JSON.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`[{"op":"add","path":"/a","value":1},{"op":"move","from":"/a","path":"/b/-"}]`))
	f.Add([]byte(`[{"op":"copy","from":"/b/0","path":"/b/-1"},{"op":"test","path":"","value":{}}]`))
	f.Add([]byte(`[{"op":"replace","path":"/~1~0","value":null},{"op":"remove","path":"/b/0"}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = patch.ParseJSON(body, true)
		out, err := patch.JSON([]byte(`{"a":{"x":null},"b":[1,{"y":2}]}`), body)
		if err == nil {
			assert.True(t, json.Valid(out), "%s", out)
		}
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
