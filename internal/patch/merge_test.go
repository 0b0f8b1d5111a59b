package patch_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// FuzzMerge checks that a patch that applies leaves JSON behind.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"a":{"x":1,"y":null},"b":[null,{"z":null}]}`))
	f.Add([]byte(`[{"a":null}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = patch.CheckMerge(body)
		out, err := patch.Merge([]byte(`{"a":{"x":null},"b":[1,{"y":2}]}`), body)
		if err == nil {
			assert.True(t, json.Valid(out), "%s", out)
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
