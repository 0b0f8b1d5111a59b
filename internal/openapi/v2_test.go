package openapi

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/resource"
)

func TestConvertSchema(t *testing.T) {
	for name, row := range map[string]struct{ v3, v2 string }{
		"reference":             {`{"$ref":"#/components/schemas/a.B"}`, `{"$ref":"#/definitions/a.B"}`},
		"reference in an allOf": {`{"allOf":[{"$ref":"#/components/schemas/a.B"}],"default":{}}`, `{"$ref":"#/definitions/a.B"}`},
		"annotated reference":   {`{"allOf":[{"$ref":"#/components/schemas/a.B"}],"description":"d","x-kubernetes-map-type":"granular","nullable":true}`, `{"$ref":"#/definitions/a.B","description":"d","x-kubernetes-map-type":"granular"}`},
		"default":               {`{"type":"string","default":"a"}`, `{"type":"string"}`},
		"property names":        {`{"properties":{"default":{"type":"string","default":"a"},"$ref":{"type":"string"}}}`, `{"properties":{"default":{"type":"string"},"$ref":{"type":"string"}}}`},
		"items":                 {`{"type":"array","items":{"allOf":[{"$ref":"#/components/schemas/a.B"}],"default":{}}}`, `{"type":"array","items":{"$ref":"#/definitions/a.B"}}`},
		"map":                   {`{"type":"object","additionalProperties":{"type":"string","default":""}}`, `{"type":"object","additionalProperties":{"type":"string"}}`},
		"any map":               {`{"type":"object","additionalProperties":true}`, `{"type":"object","additionalProperties":true}`},
		"string or number":      {`{"oneOf":[{"type":"integer"},{"type":"string"}],"format":"int-or-string"}`, `{"type":"string","format":"int-or-string"}`},
		"typed alternatives":    {`{"type":"object","oneOf":[{"type":"string"},{"required":["a"]}]}`, `{"type":"object"}`},
		"int or string":         {`{"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true}`, `{"x-kubernetes-int-or-string":true}`},
		"several allOf":         {`{"allOf":[{"required":["a"]},{"not":{"required":["b"]}}]}`, `{"allOf":[{"required":["a"]},{}]}`},
		"unlike a schema":       {`{"items":1,"properties":2,"allOf":3,"oneOf":4}`, `{"items":1,"properties":{},"allOf":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			var schema any
			require.NoError(t, json.Unmarshal([]byte(row.v3), &schema))
			got, err := json.Marshal(convertSchema(schema))
			require.NoError(t, err)
			assert.JSONEq(t, row.v2, string(got))
			after, err := json.Marshal(schema)
			require.NoError(t, err)
			assert.JSONEq(t, row.v3, string(after), "the schema must not change")
		})
	}
}

const small = `{"paths":{"/api/v1/namespaces/{namespace}/pods/{name}/exec":{
	"parameters":[{"name":"tty","in":"query","schema":{"type":"boolean"}},{"name":"container","in":"query","schema":{"type":"string"}},{"name":"name","in":"path","required":true}],
	"post":{"tags":["core_v1"],"x-kubernetes-action":"connect","responses":{"200":{"description":"OK","content":{"*/*":{"schema":{"type":"string"}}}}}},
	"put":{"requestBody":{"required":true,"content":{"*/*":{"schema":{"type":"object"}}}},"parameters":[{"name":"dryRun","in":"query"},{"name":"a","in":"query"}]},
	"summary":"left out"}}}`

func convert(document []byte, v2 V2Overrides) (*fragment, error) {
	f := newFragment()
	return f, f.add(document, v2)
}

func TestConvertPath(t *testing.T) {
	f, err := convert([]byte(small), V2Overrides{Consumes: []string{"*/*"}})
	require.NoError(t, err)
	assert.JSONEq(t, `{
		"parameters":[{"$ref":"#/parameters/container-9Hy7mmlz"},{"name":"name","in":"path","required":true},{"$ref":"#/parameters/tty-JX5Ktnh9"}],
		"post":{"tags":["core_v1"],"schemes":["https"],"consumes":["*/*"],"produces":["*/*"],"x-kubernetes-action":"connect",
			"responses":{"200":{"description":"OK","schema":{"type":"string"}}}},
		"put":{"schemes":["https"],"consumes":["*/*"],
			"parameters":[{"$ref":"#/parameters/a-XdkHWyi4"},{"name":"body","in":"body","required":true,"schema":{"type":"object"}},{"name":"dryRun","in":"query"}]}
	}`, string(f.paths["/api/v1/namespaces/{namespace}/pods/{name}/exec"]))
	assert.Equal(t, map[string]json.RawMessage{
		"a-XdkHWyi4":         json.RawMessage(`{"name":"a","in":"query"}`),
		"container-9Hy7mmlz": json.RawMessage(`{"type":"string","name":"container","in":"query"}`),
		"tty-JX5Ktnh9":       json.RawMessage(`{"type":"boolean","name":"tty","in":"query"}`),
	}, f.parameters)
}

func TestConvertErrors(t *testing.T) {
	for name, row := range map[string]struct{ doc, want string }{
		"no JSON":        {`{`, "unexpected end of JSON input"},
		"bad operation":  {`{"paths":{"/a":{"get":1}}}`, "/a: json: cannot unmarshal number into Go value of type openapi.operationV3"},
		"bad parameters": {`{"paths":{"/a":{"parameters":1}}}`, "/a: json: cannot unmarshal number into Go value of type []openapi.parameterV3"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := convert([]byte(row.doc), V2Overrides{Consumes: []string{"*/*"}})
			assert.EqualError(t, err, row.want)
		})
	}
}

func TestOverrides(t *testing.T) {
	f, err := convert([]byte(`{"components":{"schemas":{
		"a":{"type":"object"},"b":{"type":"string"},"io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent":{"type":"object"}
	}},"paths":{"/a":{"get":{"x-kubernetes-action":"get"}}}}`), V2Overrides{
		Definitions:   map[string]any{"a": map[string]any{"type": "array"}},
		GroupVersions: []resource.GroupVersion{{Version: "v1"}, {Group: "g", Version: "v2"}},
		Consumes:      []string{"text/plain"},
	})
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"array"}`, string(f.definitions["a"]))
	assert.JSONEq(t, `{"type":"string"}`, string(f.definitions["b"]))
	assert.Equal(t, `{"type":"object","x-kubernetes-group-version-kind":[{"group":"","kind":"WatchEvent","version":"v1"},{"group":"g","kind":"WatchEvent","version":"v2"}]}`,
		string(f.definitions["io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent"]))
	assert.JSONEq(t, `{"get":{"consumes":["text/plain"],"schemes":["https"],"x-kubernetes-action":"get"}}`, string(f.paths["/a"]))
}

func FuzzConvert(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"paths":{"/a":{"get":{"responses":{"x":{"content":{"a/b":{"schema":null}}}}}}},"components":{"schemas":{"a":{"allOf":[null]},"b":{"oneOf":[1]}}}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		fragment, err := convert(doc, V2Overrides{Consumes: []string{"*/*"}})
		if err != nil {
			return
		}
		for path, item := range fragment.paths {
			assert.True(t, json.Valid(item), path)
		}
		for name, definition := range fragment.definitions {
			assert.True(t, json.Valid(definition), name)
		}
	})
}
