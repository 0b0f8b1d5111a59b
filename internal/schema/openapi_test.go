//go:build go1.24

package schema_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/schema"
)

// components returns a document with component schemas.
func components(schemas string) []byte {
	return []byte(`{"paths":{"/x":[1,{"a":"}\"]"}]},"components":{"other":null,"schemas":{` + schemas + `}}}`)
}

func TestParse(t *testing.T) {
	s := &schema.Schema{}
	for _, tt := range []struct {
		name, text string
		want       *schema.Schema
	}{
		{"empty", `{}`, &schema.Schema{}},
		{"unknown keywords", `{"enum":["a",null],"x-kubernetes-unions":[{"a":[]}],"maxLength":3}`, &schema.Schema{}},
		{"primitive", `{"type":"integer","format":"int32","default":-1,"nullable":true}`,
			&schema.Schema{Type: "integer", Format: "int32", Default: int64(-1), HasDefault: true, Nullable: true}},
		{"defaults", `{"default":{"a":[1.5,true,null,"x\n",9223372036854775808]}}`,
			&schema.Schema{Default: map[string]any{"a": []any{1.5, true, nil, "x\n", 9223372036854775808.0}}, HasDefault: true}},
		{"null default", `{"default":null}`, &schema.Schema{HasDefault: true}},
		{"object", `{"type":"object","required":["a"],"properties":{"a":{},"b":{"type":"string"}}}`,
			&schema.Schema{Type: "object", Required: []string{"a"}, Properties: map[string]*schema.Schema{"a": s, "b": {Type: "string"}}}},
		{"map", `{"additionalProperties":{"type":"string"}}`, &schema.Schema{Additional: &schema.Schema{Type: "string"}}},
		{"additionalProperties true", `{"additionalProperties":true}`, &schema.Schema{Additional: s}},
		{"additionalProperties false", `{"additionalProperties":false}`, &schema.Schema{}},
		{"extensions", `{"x-kubernetes-map-type":"atomic","x-kubernetes-int-or-string":true,"x-kubernetes-preserve-unknown-fields":true,"x-kubernetes-embedded-resource":true}`,
			&schema.Schema{MapType: "atomic", IntOrString: true, PreserveUnknownFields: true, EmbeddedResource: true}},
		{"int-or-string by format", `{"format":"int-or-string"}`, &schema.Schema{Format: "int-or-string", IntOrString: true}},
		{"int-or-string by oneOf", `{"oneOf":[{"type":"string"},{"type":"integer"}]}`, &schema.Schema{IntOrString: true}},
		{"oneOf of other types", `{"oneOf":[{"type":"string"},{"type":"number"}]}`, &schema.Schema{}},
		{"reference", `{"$ref":"#/components/schemas/T"}`, &schema.Schema{Name: "T", Type: "string"}},
		{"reference in allOf", `{"allOf":[{"$ref":"#/components/schemas/T"}]}`, &schema.Schema{Name: "T", Type: "string"}},
		{"keywords next to a reference", `{"allOf":[{"$ref":"#/components/schemas/T"}],"default":"","x-kubernetes-patch-strategy":"merge,retainKeys","x-kubernetes-list-map-keys":["k"],"x-kubernetes-list-type":"map"}`,
			&schema.Schema{Name: "T", Type: "string", Default: "", HasDefault: true, PatchStrategies: []string{"merge", "retainKeys"}, ListType: "map", ListMapKeys: []string{"k"}}},
		{"reference to a reference", `{"$ref":"#/components/schemas/U","format":"v"}`, &schema.Schema{Name: "T", Type: "string", Format: "v", Nullable: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := schema.Parse(components(`"S":{"items":` + tt.text + `},"T":{"type":"string"},"U":{"$ref":"#/components/schemas/T","nullable":true}`))
			require.NoError(t, err)
			got, ok := d.Named("S")
			require.True(t, ok)
			assert.Equal(t, &schema.Schema{Name: "S", Items: tt.want}, got)
			target, _ := d.Named("T")
			assert.Equal(t, &schema.Schema{Name: "T", Type: "string"}, target, "the referenced schema is not changed")
		})
	}
}

func TestParseRecursion(t *testing.T) {
	d, err := schema.Parse(components(`
		"List": {"properties":{"next":{"$ref":"#/components/schemas/List"}, "copy":{"$ref":"#/components/schemas/List","nullable":true}}}`))
	require.NoError(t, err)
	list, ok := d.Named("List")
	require.True(t, ok)
	assert.Same(t, list, list.Properties["next"])
	copied := list.Properties["copy"]
	assert.True(t, copied.Nullable)
	assert.False(t, list.Nullable)
	assert.Same(t, copied, copied.Properties["copy"])
}

func TestParseError(t *testing.T) {
	for _, tt := range []struct{ name, doc, want string }{
		{"empty", ``, "unexpected end of JSON input"},
		{"syntax error", `{"components":{"schemas":{"A":{"type":}}}}`, "invalid character '}' looking for beginning of value"},
		{"trailing data", `{} x`, "invalid character 'x' after top-level value"},
		{"not an object", `[]`, "malformed OpenAPI document: unexpected value at offset 0"},
		{"wrong type", `{"components":{"schemas":{"A":{"type":5}}}}`, "malformed OpenAPI document: unexpected value at offset 38"},
		{"unresolved reference", `{"components":{"schemas":{"A":{"$ref":"#/components/schemas/B"}}}}`, `malformed OpenAPI document: no schema "B"`},
		{"reference to another document", `{"components":{"schemas":{"A":{"items":{"$ref":"other.json#/B"}}}}}`, `malformed OpenAPI document: reference to "other.json#/B"`},
		{"reference to itself", `{"components":{"schemas":{"A":{"$ref":"#/components/schemas/A"}}}}`, `malformed OpenAPI document: schema "A" is itself`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := schema.Parse([]byte(tt.doc))
			assert.EqualError(t, err, tt.want)
		})
	}
}

// FuzzParse checks that the errors of Parse for JSON are ErrMalformed.
func FuzzParse(f *testing.F) {
	f.Add(components(`"A":{"type":"object","properties":{"a":{"$ref":"#/components/schemas/A","default":{}}}}`))
	f.Add(components(`"A":{"allOf":[{"$ref":"#/components/schemas/B"}]},"B":{"items":{},"x-kubernetes-group-version-kind":[{"kind":"K"}]}`))
	f.Add(components(`"A":{"allOf":[{"$ref":"#/components/schemas/B"}],"x":[{"y"}]}`)) // no JSON, but the reference is found first
	f.Add([]byte(`{"components":{"schemas":{"A":{"default":[1e5,-0,"\u00e9"],"additionalProperties":false}}}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if _, err := schema.Parse(doc); err != nil && json.Valid(doc) {
			assert.ErrorIs(t, err, schema.ErrMalformed)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	p := open(b)
	for _, path := range []string{"apis/batch/v1", "api/v1"} {
		b.Run("path="+path, func(b *testing.B) {
			doc, err := p.BareOpenAPI(path)
			require.NoError(b, err)
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := schema.Parse(doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleParse() {
	d, err := schema.Parse([]byte(`{"components": {"schemas": {
		"com.example.Tree": {
			"type": "object",
			"properties": {"left": {"$ref": "#/components/schemas/com.example.Tree"}},
			"x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Tree"}]
		}
	}}}`))
	if err != nil {
		panic(err)
	}
	tree, _ := d.ForKind("example.com", "v1", "Tree")
	fmt.Println(tree.Name, tree.Properties["left"] == tree)
	// Output: com.example.Tree true
}
