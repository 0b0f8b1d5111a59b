package objects_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// kube-apiserver decodes a patched object without an apiVersion into a type without
// fields, and reports its fields as unknown.
func TestPatchOfAPIVersion(t *testing.T) {
	const (
		path  = "/api/v1/namespaces/default/configmaps/a"
		merge = "application/merge-patch+json"
		jsonp = "application/json-patch+json"
	)
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	apitest.Put(t, srv, fakeapi.Object{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a", "namespace": "default"},
		"data":     map[string]any{"k": "v"},
	})
	unknown := []string{`299 - "unknown field \"data\""`, `299 - "unknown field \"metadata\""`}
	const undetermined = "the name of the object (a based on URL) was undeterminable: name must be provided"
	for _, tt := range []struct {
		name, typ, query, body string
		code                   int
		message                string
		warnings               []string
	}{
		{"removed", jsonp, "", `[{"op":"remove","path":"/apiVersion"}]`, 400, undetermined, unknown},
		{"null", merge, "", `{"apiVersion":null}`, 400, undetermined, unknown},
		{"empty", merge, "?fieldValidation=Ignore", `{"apiVersion":"","data":5}`, 400, undetermined, nil},
		{"removed, strictly", jsonp, "?fieldValidation=Strict", `[{"op":"remove","path":"/apiVersion"}]`, 422, `strict decoding error: unknown field "data", unknown field "metadata"`, nil},
		{"not a string", merge, "", `{"apiVersion":5}`, 422, "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .apiVersion of type string", nil},
		{"removed, and another kind", jsonp, "", `[{"op":"remove","path":"/apiVersion"},{"op":"replace","path":"/kind","value":"Pod"}]`, 422, "converting (core.Pod) to (core.ConfigMap): unknown conversion", nil},
		{"removed, and no kind", jsonp, "", `[{"op":"remove","path":"/apiVersion"},{"op":"replace","path":"/kind","value":"Odd"}]`, 422, `no kind "Odd" is registered for the internal version of group ""`, nil},
		{"kind removed", jsonp, "", `[{"op":"remove","path":"/kind"}]`, 200, "", nil},
		{"another kind", merge, "", `{"kind":"Pod","spec":{"unknown":1}}`, 422, "converting (v1.Pod) to (core.ConfigMap): unknown conversion", nil},
		{"another kind, as which it does not decode", merge, "", `{"kind":"Pod","spec":1}`, 422, "json: cannot unmarshal number into Go struct field Pod.spec of type v1.PodSpec", nil},
		{"other version", merge, "", `{"apiVersion":"v2"}`, 422, `no kind "ConfigMap" is registered for version "v2"`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest("PATCH", srv.URL+path+tt.query, strings.NewReader(tt.body))
			require.NoError(t, err)
			req.Header.Set("Content-Type", tt.typ)
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			obj := apitest.Answer(t, resp)
			assert.Equal(t, tt.code, resp.StatusCode)
			message, _ := obj["message"].(string)
			assert.Contains(t, message, tt.message)
			assert.Equal(t, tt.warnings, resp.Header.Values("Warning"))
		})
	}
}

// An empty PartialObjectMetadataList has null items, as kube-apiserver's has.
func TestEmptyListOfMetadata(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	req, err := http.NewRequest("GET", srv.URL+"/api/v1/secrets", nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	list := apitest.Answer(t, resp)
	assert.Equal(t, "PartialObjectMetadataList", list["kind"])
	assert.Contains(t, list, "items")
	assert.Nil(t, list["items"])
}

// A patch cannot change the kind or the apiVersion of a custom resource.
func TestPatchOfCustomResourceKind(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.DefinitionsPath, apitest.Widgets("v1", "")))
	require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.WidgetsPath, apitest.Widget))
	for _, tt := range []struct {
		name, body string
		code       int
		message    string
	}{
		{"kind", `{"kind":"Other"}`, 422, `Other.example.com "w" is invalid: kind: Invalid value: "Other": must be Widget`},
		{"both", `{"kind":"Other","apiVersion":"o/v2"}`, 422, `Other.o "w" is invalid: [kind: Invalid value: "Other": must be Widget, apiVersion: Invalid value: "o/v2": must be example.com/v1]`},
		{"no version", `{"apiVersion":null}`, 500, "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'"},
		{"no version and no metadata", `{"apiVersion":null,"metadata":{"managedFields":{}}}`, 422, "json: cannot unmarshal object into Go struct field ObjectMeta.managedFields of type []v1.ManagedFieldsEntry"},
		{"no kind", `{"kind":null}`, 422, `Object 'Kind' is missing in '{"apiVersion":"example.com/v1","metadata":{"creationTimestamp":`},
		{"no group version", `{"apiVersion":"a/b/c"}`, 422, "unexpected GroupVersion string: a/b/c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, obj := apitest.Do(t, srv, "PATCH", apitest.WidgetsPath+"/w", tt.body)
			assert.Equal(t, tt.code, code)
			assert.Contains(t, obj["message"], tt.message)
		})
	}
}
