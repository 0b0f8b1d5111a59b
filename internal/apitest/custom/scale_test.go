package custom_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// Writes to the scale subresource of custom resources and of built-in types.
func TestScaleWrites(t *testing.T) {
	const (
		foo    = "/apis/ex.io/v1/namespaces/default/foos/"
		dep    = "/apis/apps/v1/namespaces/default/deployments/d/scale"
		apply  = "application/apply-patch+yaml"
		merge  = "application/merge-patch+json"
		scale  = `"apiVersion":"autoscaling/v1","kind":"Scale"`
		noType = `no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"`
		ports  = `299 - "spec.template.spec.containers[0].ports[1]: duplicate port definition with spec.template.spec.containers[0].ports[0]"`
	)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ScaledDefinition,
		`{"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"bare","namespace":"default"},"spec":{"x":1}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"default"},"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80},{"containerPort":80}]}]}}}}`,
	))
	code, _ := apitest.Do(t, srv, "POST", strings.TrimSuffix(foo, "/")+"?fieldManager=m0", `{"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"a"},"spec":{"replicas":3}}`)
	require.Equal(t, 201, code)
	for _, tt := range []struct {
		name, method, path, media, body string
		code                            int
		want, warning                   string
	}{
		{"apply to a custom resource", "PATCH", foo + "a/scale?fieldManager=m1&force=true", apply, `{` + scale + `,"metadata":{"name":"a","namespace":"default"},"spec":{"replicas":4}}`,
			500, `failed to convert new object (default/a; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1`, ""},
		{"apply that changes nothing", "PATCH", foo + "a/scale?fieldManager=m1", apply, `{` + scale + `,"metadata":{"name":"a"}}`, 200, `"replicas":3`, ""},
		{"apply without managers", "PATCH", foo + "bare/scale?fieldManager=m1", apply, `{` + scale + `,"metadata":{"name":"bare"},"spec":{"replicas":4}}`,
			500, `failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1`, ""},
		{"no replicas", "PATCH", foo + "bare/scale", merge, `{}`, 400, `the spec replicas field \".spec.replicas\" cannot be empty`, ""},
		{"new replicas", "PATCH", foo + "bare/scale", merge, `{"spec":{"replicas":1}}`, 200, `"replicas":1`, ""},
		{"null replicas", "POST", strings.TrimSuffix(foo, "/"), "application/json", `{"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"n"},"spec":{"replicas":null}}`,
			422, `spec.replicas: Invalid value: 0: .spec.replicas accessor error: \u003cnil\u003e is of the type \u003cnil\u003e, expected int64`, ""},
		{"replicas of a null", "POST", strings.TrimSuffix(foo, "/"), "application/json", `{"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"n"},"spec":null}`, 201, `"name":"n"`, ""},
		{"UID of a custom resource", "PATCH", foo + "a/scale", merge, `{"metadata":{"uid":"zz"},"spec":{"replicas":5}}`, 200, `"replicas":5`, ""},
		{"UID of a Deployment", "PATCH", dep, merge, `{"metadata":{"uid":"zz"},"spec":{"replicas":5}}`,
			409, `Operation cannot be fulfilled on deployments/scale.apps \"d\": Precondition failed: UID in precondition: zz, UID in object meta: `, ""},
		{"warning of the template", "PATCH", dep, merge, `{"spec":{"replicas":6}}`, 200, `"replicas":6`, ports},
		{"no warning without a change", "PATCH", dep, merge, `{"spec":{"replicas":6}}`, 200, `"replicas":6`, ""},
		{"invalid metadata", "PATCH", dep, merge, `{"metadata":{"uid":"zz","labels":{"a b":"c"},"finalizers":["x"]},"spec":{"replicas":-1}}`,
			422, `Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`, ""},
		{"invalid finalizer", "PATCH", dep, merge, `{"metadata":{"finalizers":["x"]}}`, 200, `"replicas":6`, ""},
		{"invalid metadata of a custom resource", "PATCH", foo + "a/scale", merge, `{"metadata":{"labels":{"a b":"c"}},"spec":{"replicas":5}}`, 200, `"replicas":5`, ""},
		{"no JSON for a custom resource", "PUT", foo + "a/scale", "application/json", `{`, 400, noType, ""},
		{"replicas of a wrong type for a custom resource", "PUT", foo + "a/scale", "application/json", `{` + scale + `,"metadata":{"name":"a"},"spec":{"replicas":"x"}}`, 400, noType, ""},
		{"unknown field for a custom resource", "PUT", foo + "a/scale?fieldValidation=Strict", "application/json", `{` + scale + `,"metadata":{"name":"a"},"spec":{"replicas":5},"x":1}`, 400, noType, ""},
		{"unknown field for a Deployment", "PUT", dep + "?fieldValidation=Strict", "application/json", `{` + scale + `,"metadata":{"name":"d"},"spec":{"replicas":5},"x":1}`,
			400, `Scale in version \"v1\" cannot be handled as a Scale: strict decoding error: unknown field \"x\"`, ""},
		{"patched without a version, custom resource", "PATCH", foo + "a/scale", merge, `{"apiVersion":null,"spec":{"replicas":7}}`, 200, `"replicas":7`, ""},
		{"patched without a version, Deployment", "PATCH", dep, merge, `{"apiVersion":null,"spec":{"replicas":7}}`, 400, `was undeterminable: name must be provided`, `299 - "unknown field \"metadata\""`},
		{"patched to another kind, custom resource", "PATCH", foo + "a/scale", merge, `{"apiVersion":"v1","kind":"Pod"}`, 422, `no kind \"Pod\" is registered for version \"v1\" in scheme`, ""},
		{"patched to another kind of the version, custom resource", "PATCH", foo + "a/scale", merge, `{"kind":"HorizontalPodAutoscaler"}`, 422, `converting (v1.HorizontalPodAutoscaler) to (v1.Scale): unknown conversion`, ""},
		{"patched to another version, custom resource", "PATCH", foo + "a/scale", merge, `{"apiVersion":"extensions/v1beta1"}`, 422, `converting (v1beta1.Scale) to (v1.Scale): unknown conversion`, ""},
		{"negative", "PATCH", dep, merge, `{"metadata":{"uid":"zz"},"spec":{"replicas":-1}}`, 422, `spec.replicas: Invalid value: -1`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest(tt.method, srv.URL+tt.path, strings.NewReader(tt.body))
			require.NoError(t, err)
			req.Header.Set("Content-Type", tt.media)
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, tt.code, resp.StatusCode)
			assert.Contains(t, string(body), tt.want)
			assert.Equal(t, tt.warning, resp.Header.Get("Warning"))
		})
	}
}

// A write to the scale subresource keeps the managers that wrote in versions without it.
func TestScaleKeepsManagers(t *testing.T) {
	const (
		schema = `"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}`
		crd    = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"foos.ex.io"},"spec":{"group":"ex.io","scope":"Namespaced","names":{"plural":"foos","kind":"Foo"},"versions":[
			{"name":"v1","served":true,"storage":true,` + schema + `,"subresources":{"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}}},
			{"name":"v2","served":true,"storage":false,` + schema + `}]}}`
		v1, v2 = "/apis/ex.io/v1/namespaces/default/foos", "/apis/ex.io/v2/namespaces/default/foos"
	)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(crd))
	for _, r := range []struct{ method, path, body string }{
		{"POST", v1 + "?fieldManager=one", `{"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"a"},"spec":{"a":"1","replicas":1}}`},
		{"PATCH", v2 + "/a?fieldManager=two", `{"spec":{"a":"2"}}`},
		{"PATCH", v1 + "/a/scale?fieldManager=scaler", `{"spec":{"replicas":2}}`},
	} {
		code, answer := apitest.Do(t, srv, r.method, r.path, r.body)
		require.Contains(t, []int{200, 201}, code, answer)
	}
	_, obj := apitest.Do(t, srv, "GET", v1+"/a", "")
	owners := map[string]any{}
	for _, e := range obj["metadata"].(map[string]any)["managedFields"].([]any) {
		e := e.(map[string]any)
		owners[e["manager"].(string)] = e["fieldsV1"]
	}
	field := func(name string) any { return map[string]any{"f:spec": map[string]any{name: map[string]any{}}} }
	assert.Equal(t, map[string]any{"one": map[string]any{"f:spec": map[string]any{}}, "two": field("f:a"), "scaler": field("f:replicas")}, owners)
}

// Only whole lists of custom resources have an empty continue token.
func TestEmptyContinue(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ScaledDefinition))
	const foos = "/apis/ex.io/v1/foos"
	for _, tt := range []struct {
		name, accept string
		has          bool
	}{
		{"whole", "application/json", true},
		{"Table", "application/json;as=Table;v=v1;g=meta.k8s.io", false},
		{"metadata", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, list := apitest.DoWithHeaders(t, srv, "GET", foos, "", "Accept", tt.accept)
			_, has := list["metadata"].(map[string]any)["continue"]
			assert.Equal(t, tt.has, has)
		})
	}
}

// The Scale of a custom resource whose fields were valid before its definition got the subresource.
// Recorded from kube-apiserver v1.37.2.
func TestScaleOfOtherTypes(t *testing.T) {
	const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"foos.ex.io"},"spec":{"group":"ex.io","scope":"Namespaced","names":{"plural":"foos","kind":"Foo"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`
	for _, tt := range []struct {
		name, fields, method string
		code                 int
		want                 string
	}{
		{"replicas that are a string", `"spec":{"replicas":"x"}`, "GET", 500, ".spec.replicas accessor error: x is of the type string, expected int64"},
		{"its update", `"spec":{"replicas":"x"}`, "PATCH", 500, ".spec.replicas accessor error: x is of the type string, expected int64"},
		{"spec that is a list", `"spec":["a"]`, "GET", 500, ".spec.replicas accessor error: [a] is of the type []interface {}, expected map[string]interface{}"},
		{"status that is a string", `"spec":{"replicas":1},"status":"x"`, "GET", 500, ".status.replicas accessor error: x is of the type string, expected map[string]interface{}"},
		{"selector that is a number", `"spec":{"replicas":1},"status":{"selector":5}`, "GET", 500, ".status.selector accessor error: 5 is of the type int64, expected string"},
		{"no replicas", `"spec":{}`, "GET", 500, `Internal error occurred: the spec replicas field ".spec.replicas" does not exist`},
		{"update of a spec that is null", `"spec":null`, "PATCH", 500, "value cannot be set because .spec is not a map[string]interface{}"},
		{"replicas of more than 32 bits", `"spec":{"replicas":4294967297},"status":{"replicas":4294967298}`, "GET", 200, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(definition,
				`{"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"a","namespace":"default"},`+tt.fields+`}`))
			scale := `[{"op":"add","path":"/spec/versions/0/subresources","value":{"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.selector"}}}]`
			code, _ := apitest.DoWithHeaders(t, srv, "PATCH", apitest.DefinitionsPath+"/foos.ex.io", scale, "Content-Type", "application/json-patch+json")
			require.Equal(t, 200, code)
			code, obj := apitest.Do(t, srv, tt.method, "/apis/ex.io/v1/namespaces/default/foos/a/scale", map[string]string{"PATCH": `{"spec":{"replicas":3}}`}[tt.method])
			assert.Equal(t, tt.code, code)
			if tt.want != "" {
				assert.Equal(t, tt.want, obj["message"])
				return
			}
			assert.Equal(t, map[string]any{"replicas": 1.0}, obj["spec"])
			assert.Equal(t, map[string]any{"replicas": 2.0}, obj["status"])
		})
	}
}

// The replicas of a Scale are pruned if the schema does not have their field. Recorded from
// kube-apiserver v1.37.2.
func TestScaleOfUnknownField(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(
		strings.Replace(apitest.ScaledDefinition, `"x-kubernetes-preserve-unknown-fields":true`, `"properties":{"spec":{"type":"object"}}`, 1),
		`{"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"a","namespace":"default"},"spec":{}}`))
	const path = "/apis/ex.io/v1/namespaces/default/foos/a"
	code, scale := apitest.Do(t, srv, "PATCH", path+"/scale", `{"spec":{"replicas":3}}`)
	require.Equal(t, 200, code, scale)
	assert.Equal(t, map[string]any{}, scale["spec"])
	_, obj := apitest.Do(t, srv, "GET", path, "")
	assert.Equal(t, map[string]any{}, obj["spec"])
	assert.Equal(t, 2.0, obj["metadata"].(map[string]any)["generation"])
}
