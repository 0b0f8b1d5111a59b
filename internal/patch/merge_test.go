package patch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubefake/kubefake/internal/patch"
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

// FuzzMerge checks Merge against the library by which kube-apiserver merges.
func FuzzMerge(f *testing.F) {
	const doc = `{"a":{"x":null,"y":{}},"b":[1,{"y":2}],"c":"d"}`
	for _, body := range []string{
		`{"a":{"x":1,"y":null},"b":[null,{"z":null}]}`,
		`[{"a":null}, [] , 5]`,
		` { "c" : 1.50e3 , "c" : {"n":null,"m":[null,{"n":null}]}, "\u0061":{"y":[{"n":null}]} } `,
		`{"b":{"n":null},"z":"<&>\"\\  \u2029","y":-0.0,"x":true}`,
		`{"a":{"x":{"n":null}},"b":null,"c":null}`,
		`{} x`, `"`, ``,
	} {
		f.Add([]byte(doc), []byte(body))
		f.Add([]byte(` { "b" :{}, "a":[ 1 , 2 ], "a":{"<":0} } `), []byte(body))
	}
	f.Fuzz(func(t *testing.T, doc, body []byte) {
		var object map[string]any
		if json.Unmarshal(doc, &object) != nil || object == nil {
			t.Skip("no object to patch")
		}
		_, _ = patch.CheckMerge(body)
		want, wantErr := jsonpatch.MergePatch(doc, body)
		got, err := patch.Merge(doc, body)
		if wantErr != nil {
			require.EqualError(t, err, wantErr.Error())
			return
		}
		require.NoError(t, err)
		if !bytes.Contains(append(bytes.Clone(doc), body...), []byte(`\u`)) && utf8.Valid(doc) && utf8.Valid(body) {
			assert.Equal(t, string(want), string(got))
		}
		assert.Equal(t, exactly(t, want), exactly(t, got))
	})
}

// exactly is JSON with its numbers as they are spelled.
func exactly(t *testing.T, text []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	return v
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
