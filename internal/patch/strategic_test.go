//go:build go1.26

package patch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/wire"
)

// kindSchema returns the schema of a kind of the default release.
func kindSchema(t testing.TB, group, kind string) *schema.Schema {
	t.Helper()
	p, err := release.Open("")
	require.NoError(t, err)
	s, ok := schema.ForKind(p, group, "v1", kind)
	require.True(t, ok, kind)
	return s
}

// decoded returns a JSON object in generic form.
func decoded(t testing.TB, text string) map[string]any {
	t.Helper()
	obj, _, err := wire.DecodeUntyped([]byte(text), wire.DecodeOptions{})
	require.NoError(t, err, text)
	return obj
}

func TestStrategic(t *testing.T) {
	const (
		pod = `{"spec":{"containers":[{"name":"a","image":"i","args":["x","y"]},{"name":"b"},{"name":"c"}],
			"volumes":[{"name":"v","emptyDir":{}}],"tolerations":[{"key":"k"}],"nodeName":"n"}}`
		meta = `{"metadata":{"finalizers":["a","b"],"labels":{"x":"1","y":"2"}}}`
	)
	for _, tt := range []struct{ name, obj, patch, want string }{
		{"objects are merged", meta, `{"metadata":{"labels":{"y":"3","z":"4"}}}`,
			`{"metadata":{"finalizers":["a","b"],"labels":{"x":"1","y":"3","z":"4"}}}`},
		{"null deletes", meta, `{"metadata":{"labels":{"x":null,"nope":null},"finalizers":null}}`,
			`{"metadata":{"labels":{"y":"2"}}}`},
		{"null in what is new is dropped", `{}`, `{"metadata":{"labels":{"a":null,"b":"1"}}}`,
			`{"metadata":{"labels":{"b":"1"}}}`},
		{"scalar lists are merged as sets", meta, `{"metadata":{"finalizers":["c","b"]}}`,
			`{"metadata":{"finalizers":["c","a","b"],"labels":{"x":"1","y":"2"}}}`},
		{"scalars are deleted", meta, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"labels":null}}`,
			`{"metadata":{"finalizers":["b"]}}`},
		{"a null deletion deletes the list", meta, `{"metadata":{"$deleteFromPrimitiveList/finalizers":null,"labels":null}}`,
			`{"metadata":{}}`},
		{"lists are merged by key", pod, `{"spec":{"containers":[{"name":"b","image":"j"},{"name":"d"}],"nodeName":null,"volumes":null,"tolerations":null}}`,
			`{"spec":{"containers":[{"name":"a","image":"i","args":["x","y"]},{"name":"b","image":"j"},{"name":"d"},{"name":"c"}]}}`},
		{"lists without a key are replaced", pod, `{"spec":{"tolerations":[],"containers":[{"name":"a","args":["z"]}],"volumes":null}}`,
			`{"spec":{"containers":[{"name":"a","image":"i","args":["z"]},{"name":"b"},{"name":"c"}],"tolerations":[],"nodeName":"n"}}`},
		{"$patch deletes an element", pod, `{"spec":{"containers":[{"$patch":"delete","name":"a"},{"$patch":"delete","name":"nope"}],"volumes":null,"tolerations":null}}`,
			`{"spec":{"containers":[{"name":"b"},{"name":"c"}],"nodeName":"n"}}`},
		{"$patch replaces a list", pod, `{"spec":{"containers":[{"$patch":"replace"},{"name":"z"}],"volumes":null,"tolerations":null}}`,
			`{"spec":{"containers":[{"name":"z"}],"nodeName":"n"}}`},
		{"$patch replaces an object", meta, `{"metadata":{"labels":{"$patch":"replace","z":"1"}}}`,
			`{"metadata":{"finalizers":["a","b"],"labels":{"z":"1"}}}`},
		{"$patch empties an object", meta, `{"metadata":{"labels":{"$patch":"delete"}}}`,
			`{"metadata":{"finalizers":["a","b"],"labels":{}}}`},
		{"$patch on what is not there", `{}`, `{"metadata":{"labels":{"$patch":"replace","a":"b"},"ownerReferences":[{"$patch":"delete","uid":"u"},{"uid":"v"}]}}`,
			`{"metadata":{"ownerReferences":[{"uid":"v"}]}}`},
		{"$patch on everything", meta, `{"$patch":"replace","kind":"Pod"}`, `{"kind":"Pod"}`},
		{"$retainKeys", pod, `{"spec":{"volumes":[{"$retainKeys":["name","hostPath"],"name":"v","hostPath":{"path":"/"}}],"containers":null,"tolerations":null}}`,
			`{"spec":{"volumes":[{"name":"v","hostPath":{"path":"/"}}],"nodeName":"n"}}`},
		{"$setElementOrder", pod, `{"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"d"},{"name":"a"}],"containers":[{"name":"d"}],"volumes":null,"tolerations":null}}`,
			`{"spec":{"containers":[{"name":"b"},{"name":"c"},{"name":"d"},{"name":"a","image":"i","args":["x","y"]}],"nodeName":"n"}}`},
		{"$setElementOrder alone", meta, `{"metadata":{"$setElementOrder/finalizers":["b","a"],"labels":null}}`,
			`{"metadata":{"finalizers":["b","a"]}}`},
		{"$setElementOrder of nothing", meta, `{"metadata":{"$setElementOrder/ownerReferences":[],"labels":null}}`,
			`{"metadata":{"finalizers":["a","b"]}}`},
		{"$setElementOrder of a new list", `{}`, `{"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"a"}]}}`,
			`{"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"a"}]}}`},
		{"other types replace", meta, `{"metadata":{"finalizers":{},"labels":5}}`,
			`{"metadata":{"finalizers":{},"labels":5}}`},
		{"names in another case", `{"metadata":{}}`, `{"Metadata":{"a":1},"metadata":{"$setElementOrder/Finalizers":[]}}`,
			`{"Metadata":{"a":1},"metadata":{}}`},
		{"a null patch changes nothing", meta, `null`, meta},
		{"keys that are no scalars match nothing", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[{"name":{}},{"name":{}}]}}`,
			`{"spec":{"containers":[{"name":{}},{"name":{}},{"name":"a"}]}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj := decoded(t, tt.obj)
			p, err := patch.ParseStrategic([]byte(tt.patch), true)
			require.NoError(t, err)
			got, err := p.Apply(obj, kindSchema(t, "", "Pod"))
			require.NoError(t, err)
			assert.Equal(t, decoded(t, tt.want), got.Object)
			assert.Empty(t, p.FieldErrors)
			assert.Equal(t, decoded(t, tt.obj), obj, "the object must not change")
		})
	}
}

func TestStrategicError(t *testing.T) {
	const obj = `{"metadata":{"finalizers":["a"],"labels":{"x":"1"}},"spec":{"containers":[{"name":"a"}],"hostname":"h","overhead":{}}}`
	for _, tt := range []struct{ name, patch, want string }{
		{"not JSON", `{"a"`, "malformed: unexpected end of JSON input"},
		{"empty", ``, "malformed: unexpected end of JSON input"},
		{"not an object", `[]`, "malformed: json: cannot unmarshal array into Go value of type map[string]interface {}"},
		{"no merge key", `{"spec":{"containers":[{"image":"i"}]}}`, "map: map[image:i] does not contain declared merge key: name"},
		{"no merge key to delete", `{"spec":{"containers":[{"$patch":"delete"}]}}`, "map: map[$patch:delete] does not contain declared merge key: name"},
		{"unknown directive", `{"metadata":{"labels":{"$patch":"x"}}}`, "unknown patch type: x in map: map[$patch:x]"},
		{"unknown directive in a list", `{"spec":{"containers":[{"$patch":1,"name":"a"}]}}`, "unknown patch type: %!s(int64=1) in map: map[$patch:1 name:a]"},
		{"merge directive in a list", `{"spec":{"containers":[{"$patch":"merge"}]}}`, "merging lists cannot yet be specified in the patch"},
		{"elements of another type", `{"spec":{"containers":["a"]}}`, "list element types are not identical: [[map[name:a]] [a]]"},
		{"null element", `{"metadata":{"finalizers":[null]}}`, "list element types are not identical: [[a] [<nil>]]"},
		{"list of lists", `{"spec":{"$setElementOrder/tolerations":[],"tolerations":[["a"]]}}`, "inapplicable: lists of lists are not supported"},
		{"list of lists with a merge key", `{"metadata":{"$setElementOrder/ownerReferences":[],"ownerReferences":[["a"]]}}`, "expected a map[string]interface {}, but received a []interface {}"},
		{"objects in order without a merge key", `{"spec":{"$setElementOrder/tolerations":[],"tolerations":[{"key":"k"}]}}`, "map: map[key:k] does not contain declared merge key: "},
		{"retainKeys is no list", `{"spec":{"$retainKeys":{}}}`, "malformed: invalid patch format of retainKeys"},
		{"retainKeys without a key", `{"spec":{"$retainKeys":["b"],"a":1}}`, "malformed: invalid patch format of retainKeys"},
		{"deletion without a list", `{"metadata":{"$deleteFromPrimitiveList":["a"]}}`, "malformed: invalid patch format of primitive list"},
		{"order without a list", `{"metadata":{"$setElementOrder":[]}}`, "malformed: invalid patch format of setElementOrder list"},
		{"order is no list", `{"metadata":{"$setElementOrder/finalizers":1}}`, "expected a []interface {}, but received a int64"},
		{"order of no list", `{"spec":{"$setElementOrder/hostname":[]}}`, "expected a []interface {}, but received a string"},
		{"order of a scalar", `{"spec":{"$setElementOrder/nodeName":[]}}`, "expected slice or array type, but got: struct"},
		{"order of null", `{"metadata":{"$setElementOrder/finalizers":[],"finalizers":null}}`, "expected a []interface {}, but received a %!s(<nil>)"},
		{"order of an unknown field", `{"spec":{"$setElementOrder/nope":[]}}`, `unable to find api field in struct PodSpec for the json field "nope"`},
		{"order in a map", `{"spec":{"overhead":{"$setElementOrder/nope":[]}}}`, `merging an object in json but data type is not struct, instead is: map`},
		{"order of nothing", `{"metadata":{"$setElementOrder/ownerReferences":[],"ownerReferences":[]}}`, "no elements in any of the given slices"},
		{"order against the patch", `{"spec":{"$setElementOrder/containers":[{"name":"b"}],"containers":[{"name":"a"}]}}`,
			"The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n"},
		{"order without keys", `{"spec":{"$setElementOrder/containers":[{}]}}`, "map: map[] does not contain declared merge key: name"},
		{"order of scalars", `{"spec":{"$setElementOrder/containers":["a"]}}`, "value for key 0 is not a map"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := patch.ParseStrategic([]byte(tt.patch), true)
			if err == nil {
				_, err = p.Apply(decoded(t, obj), kindSchema(t, "", "Pod"))
			}
			require.Error(t, err)
			text := err.Error()
			if _, ok := errors.AsType[*patch.MalformedError](err); ok {
				text = "malformed: " + text
			}
			if _, ok := errors.AsType[*patch.InapplicableError](err); ok {
				text = "inapplicable: " + text
			}
			assert.Equal(t, tt.want, text)
		})
	}
}

func TestStrategicFieldErrors(t *testing.T) {
	s := kindSchema(t, "apps", "Deployment")
	body := []byte(`{"spec":{"replicas":1,"bogus":{"$patch":"x"},"replicas":2,"$retainKeys":["replicas","bogus"]}}`)
	p, err := patch.ParseStrategic(body, true)
	require.NoError(t, err)
	assert.Equal(t, `[duplicate field "spec.replicas"]`, fmt.Sprint(p.FieldErrors))
	got, err := p.Apply(decoded(t, `{"spec":{"paused":true}}`), s)
	require.NoError(t, err)
	assert.Equal(t, "map[spec:map[bogus:map[$patch:x] replicas:2]]", got.PatchText())
	assert.Equal(t, decoded(t, `{"spec":{"replicas":2}}`), got.Object)

	p, err = patch.ParseStrategic(body, false)
	require.NoError(t, err)
	assert.Empty(t, p.FieldErrors)
}

// FuzzStrategic checks that no patch makes Apply panic or change the
// object, and that the result either converts to the kind or fails with an error.
func FuzzStrategic(f *testing.F) {
	f.Add([]byte(`{"spec":{"containers":[{"name":"a","image":"j"},{"$patch":"delete","name":"b"}],"$setElementOrder/containers":[{"name":"a"}]}}`))
	f.Add([]byte(`{"metadata":{"finalizers":["c"],"$deleteFromPrimitiveList/finalizers":["a"],"labels":{"$patch":"replace"}}}`))
	f.Add([]byte(`{"spec":{"volumes":[{"name":"v","$retainKeys":["name"]}],"containers":[{"name":null},{"name":{}}]}}`))
	s := kindSchema(f, "", "Pod")
	typ, ok := wire.ForKind("", "v1", "Pod")
	require.True(f, ok)
	before := decoded(f, `{"metadata":{"finalizers":["a","b"],"labels":{"a":"b"}},"spec":{"containers":[{"name":"a"},{"name":"b"}],"volumes":[{"name":"v","emptyDir":{}}]}}`)
	f.Fuzz(func(t *testing.T, body []byte) {
		obj := object.Copy(before)
		p, err := patch.ParseStrategic(body, true)
		if err != nil {
			return
		}
		got, err := p.Apply(obj, s)
		assert.Equal(t, before, obj)
		if err != nil {
			return
		}
		_ = got.PatchText()
		normal, _, err := typ.Convert(got.Object, wire.DecodeOptions{})
		if err == nil {
			_, _, err = typ.Decode(typ.Append(nil, normal), wire.DecodeOptions{})
			assert.NoError(t, err)
		}
	})
}

func BenchmarkStrategic(b *testing.B) {
	s := kindSchema(b, "", "Pod")
	obj := decoded(b, `{"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"containers":[
		{"name":"a","image":"i","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"ports":[{"containerPort":80,"protocol":"TCP"}]},
		{"name":"b","image":"i","resources":{"limits":{"cpu":"1"}}}]},"status":{}}`)
	body := []byte(`{"spec":{"containers":[{"name":"a","env":[{"name":"B","value":"3"}]}]}}`)
	b.ReportAllocs()
	for b.Loop() {
		p, err := patch.ParseStrategic(body, true)
		if err == nil {
			_, err = p.Apply(obj, s)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleStrategicPatch() {
	p, err := release.Open("1.36")
	if err != nil {
		panic(err)
	}
	s, _ := schema.ForKind(p, "", "v1", "Pod")
	pod := map[string]any{"spec": map[string]any{
		"containers": []any{
			map[string]any{"name": "web", "image": "web:1"},
			map[string]any{"name": "proxy", "image": "proxy:1"},
		},
	}}
	parsed, err := patch.ParseStrategic([]byte(`{"spec": {"containers": [
		{"name": "web", "image": "web:2"},
		{"name": "proxy", "$patch": "delete"}
	]}}`), true)
	if err != nil {
		panic(err)
	}
	merged, err := parsed.Apply(pod, s)
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(merged.Object)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
	// Output: {"spec":{"containers":[{"image":"web:2","name":"web"}]}}
}
