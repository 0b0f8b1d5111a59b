package manifests_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi/manifests"
)

// widgetSchema is a JSON schema as catalogs have it.
const widgetSchema = `{
  "type": "object",
  "required": ["spec"],
  "properties": {
    "apiVersion": {"type": "string"}, "kind": {"type": "string"},
    "metadata": {"$ref": "https://example.com/objectmeta.json"},
    "spec": {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "size": {"type": ["integer", "null"], "exclusiveMinimum": 0},
        "color": {"type": "string", "enum": ["red", null]},
        "port": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        "part": {"$ref": "#/definitions/part"},
        "free": {"type": "object"},
        "either": {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
      },
      "x-kubernetes-validations": [{"rule": "!has(self.size) || self.size < 10", "message": "too large"}]
    }
  },
  "definitions": {"part": {"type": "object", "properties": {"name": {"type": "string"}, "part": {"$ref": "#/definitions/part"}}}}
}`

func TestCatalog(t *testing.T) {
	files := fstest.MapFS{
		"catalog/shop.example.com/widget_v1.json": {Data: []byte(widgetSchema)},
		"flat/widget-shop-v1.json":                {Data: []byte(widgetSchema)},
		"flat/widget-shop-v2.json":                {Data: []byte(widgetSchema)},
		"broken/shop.example.com/widget_v1.json":  {Data: []byte("{")},
	}
	input := `
{apiVersion: shop.example.com/v1, kind: Widget, metadata: {name: a}, spec: {size: 3, color: red, port: http, part: {part: {name: x}}, free: {any: thing}, either: {a: x}}}
---
{apiVersion: shop.example.com/v1, kind: Widget, metadata: {name: b}, spec: {size: 0, sise: 1}}
---
{apiVersion: shop.example.com/v1, kind: Widget, metadata: {name: c}, spec: {size: 11}}
---
{apiVersion: shop.example.com/v1, kind: Widget, metadata: {name: d}, spec: {either: {a: x, b: z}}}
`
	want := `<stdin>:2:1: Widget default/a valid
<stdin>:4:1: Widget default/b invalid
  4:86: error: Unknown: failed to create typed patch object (/b; shop.example.com/v1, Kind=Widget): .spec.sise: field not declared in schema
<stdin>:6:1: Widget default/c invalid
  6:70: error: FieldValueInvalid: spec: Invalid value: too large
<stdin>:8:1: Widget default/d invalid
  8:77: error: FieldValueInvalid: Invalid value: "": "spec.either" must validate one and only one schema (oneOf). Found 2 valid alternatives
`
	for _, location := range []string{"catalog", "flat", "catalog/{{.Group}}/{{ .ResourceKind }}_{{.ResourceAPIVersion}}.json"} {
		t.Run(location, func(t *testing.T) {
			assert.Equal(t, want, lines(validate(t, manifests.Config{Files: files, CRDs: []string{location}}, input)))
		})
	}
	t.Run("two versions", func(t *testing.T) {
		assert.Equal(t, "<stdin>:1:1: Widget default/a valid\n<stdin>:3:1: Widget default/b valid\n", lines(validate(t, manifests.Config{Files: files, CRDs: []string{"flat"}, Workers: 1},
			"{apiVersion: shop.example.com/v1, kind: Widget, metadata: {name: a}, spec: {}}\n---\n{apiVersion: shop.example.com/v2, kind: Widget, metadata: {name: b}, spec: {}}")))
	})
	t.Run("broken", func(t *testing.T) {
		got := validate(t, manifests.Config{Files: files, CRDs: []string{"broken/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"}}, strings.Split(input, "---")[0])
		assert.Contains(t, got[0].Findings[0].Message, `no matches for kind "Widget" in version "shop.example.com/v1"; unexpected end of JSON input`)
	})
}
