package custom_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// A custom resource whose body gives another kind, or whose patch gives another version, is decoded
// without the schema of its kind and fails validation. Its rules are evaluated too.
func TestCustomResourceOfAnotherKind(t *testing.T) {
	const definition = `{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[
		{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
			"spec":{"type":"object","properties":{"size":{"type":"integer","maximum":50,"default":1}},"x-kubernetes-validations":[{"rule":"self.size <= 10","message":"too big"}]}}}}},
		{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"}}}}}}}]}}`
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const widgets = "/apis/example.com/v1/namespaces/default/widgets"
	apitest.Do(t, srv, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
	apitest.Do(t, srv, "POST", widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":2}}`)
	const wrong = `{"apiVersion":"example.com/v1","kind":"Wrong",`
	for _, tt := range []struct {
		name, method, path, body string
		want                     any // the message
	}{
		{"valid but for its kind", "POST", widgets, wrong + `"metadata":{"name":"b"},"spec":{"size":2}}`, `Wrong.example.com "b" is invalid: kind: Invalid value: "Wrong": must be Widget`},
		{"against a rule", "POST", widgets, wrong + `"metadata":{"name":"b"},"spec":{"size":20}}`, `Wrong.example.com "b" is invalid: [kind: Invalid value: "Wrong": must be Widget, spec: Invalid value: too big]`},
		{"against the schema", "POST", widgets, wrong + `"metadata":{"name":"b"},"spec":{"size":-1,"other":1}}`, `Wrong.example.com "b" is invalid: kind: Invalid value: "Wrong": must be Widget`},
		{"without defaults", "POST", widgets, wrong + `"metadata":{"name":"b"},"spec":{}}`, `Wrong.example.com "b" is invalid: [kind: Invalid value: "Wrong": must be Widget, spec: Invalid value: "object": no such key: size evaluating rule: too big]`},
		{"with invalid labels", "POST", widgets, wrong + `"metadata":{"name":"b","labels":{"a b":"c"}},"spec":{"size":2}}`, `Wrong.example.com "b" is invalid: kind: Invalid value: "Wrong": must be Widget`},
		{"in another namespace", "POST", widgets, wrong + `"metadata":{"name":"b","namespace":"other"}}`, "the namespace of the provided object does not match the namespace sent on the request"},
		{"with unknown metadata, strictly", "POST", widgets + "?fieldValidation=Strict", wrong + `"metadata":{"name":"b","a":1},"a":1}`, `Wrong in version "v1" cannot be handled as a Wrong: strict decoding error: unknown field "metadata.a"`},
		{"with a member in capitals, strictly", "POST", widgets + "?fieldValidation=Strict", `{"apiVersion":"example.com/v1","kind":"Widget","Kind":"Wrong"}`, `Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "Kind"`},
		{"without a kind, field errors ignored", "POST", widgets + "?fieldValidation=Ignore", `{"spec":{}}`, `Widget in version "v1" cannot be handled as a Widget: Object 'Kind' is missing in '{"spec":{}}'`},
		{"of an unknown version, strictly", "POST", widgets + "?fieldValidation=Strict", `{"apiVersion":"example.com/v7","kind":"Widget","spec":{"size":1}}`, `Widget in version "v7" cannot be handled as a Widget: strict decoding error: unknown field "spec"`},
		{"of another version, strictly", "POST", widgets + "?fieldValidation=Strict", `{"apiVersion":"example.com/v2","kind":"Widget","spec":{"size":1,"a":1}}`, `Widget in version "v2" cannot be handled as a Widget: strict decoding error: unknown field "spec.a"`},
		{"of no version, strictly", "POST", widgets + "?fieldValidation=Strict", `{"kind":"Widget","metadata":{"a":1}}`, "Object 'apiVersion' is missing in 'object has no apiVersion field'"},
		{"of the version null", "POST", widgets, `{"apiVersion":null,"kind":"Widget"}`, `Widget in version "" cannot be handled as a Widget: .apiVersion accessor error: <nil> is of the type <nil>, expected string`},
		{"put without a resourceVersion", "PUT", widgets + "/a", wrong + `"metadata":{"name":"a"},"spec":{"size":20}}`, `widgets.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`},
		{"put with an old resourceVersion", "PUT", widgets + "/a", wrong + `"metadata":{"name":"a","resourceVersion":"1"}}`, `Operation cannot be fulfilled on widgets.example.com "a": the object has been modified; please apply your changes to the latest version and try again`},
		{"put under another name", "PUT", widgets + "/a", wrong + `"metadata":{"name":"b"}}`, "the name of the object (b) does not match the name on the URL (a)"},
		{"put that is missing", "PUT", widgets + "/b", wrong + `"metadata":{"name":"b"}}`, `widgets.example.com "b" not found`},
		{"patched", "PATCH", widgets + "/a", `{"kind":"Wrong","spec":{"size":20},"metadata":{"uid":"u"}}`, `Wrong.example.com "a" is invalid: [metadata.uid: Invalid value: "u": field is immutable, kind: Invalid value: "Wrong": must be Widget, spec: Invalid value: too big]`},
		{"patched to another group", "PATCH", widgets + "/a", `{"apiVersion":"other.io/v1","spec":{"size":20}}`, `Widget.other.io "a" is invalid: [apiVersion: Invalid value: "other.io/v1": must be example.com/v1, spec: Invalid value: too big]`},
		{"patched to another version, strictly", "PATCH", widgets + "/a?fieldValidation=Strict", `{"apiVersion":"example.com/v2"}`, `Widget.example.com "a" is invalid: apiVersion: Invalid value: "example.com/v2": must be example.com/v1`},
		{"patched to no version", "PATCH", widgets + "/a", `{"apiVersion":""}`, "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'"},
		{"patched to no version and another name", "PATCH", widgets + "/a", `{"apiVersion":"","metadata":{"name":"b"}}`, "the name of the object (b) does not match the name on the URL (a)"},
		{"its status patched", "PATCH", widgets + "/a/status", `{"kind":"Wrong","status":{"a":1}}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, answer := apitest.Do(t, srv, tt.method, tt.path, tt.body)
			assert.Equal(t, tt.want, answer["message"])
		})
	}
}

// The field errors of a built-in kind in another version come before the error of its version.
func TestFieldErrorsOfAnotherVersion(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	_, answer := apitest.Do(t, srv, "POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers?fieldValidation=Strict",
		`{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"a":1},"spec":{"b":1}}`)
	assert.Equal(t, `HorizontalPodAutoscaler in version "v1" cannot be handled as a HorizontalPodAutoscaler: strict decoding error: unknown field "metadata.a", unknown field "spec.b"`, answer["message"])
}
