package fieldmanager_test

import (
	"encoding/json"
	"testing"

	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/wire"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gvk "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"
)

// document returns the OpenAPI document of a built-in group version.
func document(t *testing.T, gv gvk.GroupVersion) []byte {
	p, err := release.Open("v1.37.2")
	require.NoError(t, err)
	path := "apis/" + gv.String()
	if gv.Group == "" {
		path = "api/" + gv.Version
	}
	text, err := p.BareOpenAPI(path)
	require.NoError(t, err)
	return text
}

// described is the schema of the custom resource that has one.
const described = `
type: object
x-kubernetes-group-version-kind: [{group: ex.com, version: v1, kind: Described}]
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {allOf: [{$ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]}
  spec:
    type: object
    properties:
      items:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name, proto]
        items:
          type: object
          properties: {name: {type: string}, proto: {type: string, default: TCP}, v: {type: integer}}
      tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
      ref: {type: object, x-kubernetes-map-type: atomic, properties: {x: {type: string}, z: {type: string}}}
      plain: {type: array, items: {type: object, properties: {x: {type: string}}}}
      either: {x-kubernetes-int-or-string: true}
      free:
        type: object
        x-kubernetes-preserve-unknown-fields: true
        properties: {known: {type: integer}, x: {type: object, properties: {w: {type: string}}}}
      any: {type: object}
      map:
        type: object
        additionalProperties: {type: array, items: {type: object, additionalProperties: true}}
  status: {type: object, additionalProperties: {type: string}}
`

// describedDocument returns an OpenAPI document with that schema.
func describedDocument(t *testing.T) []byte {
	var doc map[string]any
	require.NoError(t, json.Unmarshal(document(t, gvk.GroupVersion{Version: "v1"}), &doc))
	var s any
	require.NoError(t, yaml.Unmarshal([]byte(described), &s))
	doc["components"].(map[string]any)["schemas"].(map[string]any)["com.ex.v1.Described"] = s
	text, err := json.Marshal(doc)
	require.NoError(t, err)
	return text
}

// A description has the inputs of both implementations for a kind.
type description struct {
	fieldmanager.Kind
	wire    *wire.Type // nil for custom resources
	types   managedfields.TypeConverter
	objects interface {
		runtime.ObjectConvertor
		runtime.ObjectDefaulter
		runtime.ObjectCreater
	}
}

func describe(t *testing.T, s subject) description {
	d := description{Kind: fieldmanager.Kind{Group: s.Group, Version: s.Version, Kind: s.Kind}}
	switch {
	case s.Kind == "Deduced":
		d.types, d.objects = managedfields.NewDeducedTypeConverter(), custom{}
	case s.Group == "ex.com":
		d.objects = custom{}
		d.read(t, describedDocument(t))
	default:
		d.objects = scheme.Scheme
		d.read(t, document(t, s.GroupVersion()))
		var ok bool
		d.wire, ok = wire.ForKind(s.Group, s.Version, s.Kind)
		require.True(t, ok)
		zero, _, err := d.wire.Normalize(map[string]any{}, wire.DecodeOptions{})
		require.NoError(t, err)
		d.Zero, d.OmitEmpty = zero, d.wire.OmitEmpty
	}
	return d
}

// read reads the OpenAPI document that has the kind.
func (d *description) read(t *testing.T, doc []byte) {
	var theirs struct {
		Components struct {
			Schemas map[string]*spec.Schema `json:"schemas"`
		} `json:"components"`
	}
	require.NoError(t, json.Unmarshal(doc, &theirs))
	var err error
	d.types, err = managedfields.NewTypeConverter(theirs.Components.Schemas, false)
	require.NoError(t, err)
	ours, err := schema.Parse(doc)
	require.NoError(t, err)
	var ok bool
	d.Schema, ok = ours.ForKind(d.Group, d.Version, d.Kind.Kind)
	require.True(t, ok)
}

// custom is the codec of custom resources.
type custom struct{}

func (custom) empty(kind gvk.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u
}

func (custom) Convert(in, out, context any) error { panic("unreachable: nothing asks for it") }

func (custom) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (custom) ConvertFieldLabel(gvk.GroupVersionKind, string, string) (string, string, error) {
	panic("unreachable: nothing asks for it")
}

func (custom) Default(runtime.Object) {}

func (c custom) New(kind gvk.GroupVersionKind) (runtime.Object, error) { return c.empty(kind), nil }
