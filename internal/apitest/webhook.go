//go:build go1.24

package apitest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// HookConfiguration is a webhook configuration of the Service shop/hooks.
func HookConfiguration(kind, path string) string {
	return `{apiVersion: admissionregistration.k8s.io/v1, kind: ` + kind + `, metadata: {name: shop}, webhooks: [{
		name: hook.shop.example.com, admissionReviewVersions: [v1], sideEffects: None,
		clientConfig: {caBundle: Cg==, service: {namespace: shop, name: hooks, path: ` + path + `}},
		rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}]}`
}

// Admit is a handler of webhooks: /label adds a label, /deny denies objects without it,
// /rename changes the name, and /name denies a request by its name. /convert converts by
// changing apiVersion.
func Admit(w http.ResponseWriter, r *http.Request) {
	var review map[string]any
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request := review["request"].(map[string]any)
	response := map[string]any{"uid": request["uid"], "allowed": true}
	switch r.URL.Path {
	case "/label":
		response["patchType"] = "JSONPatch"
		response["patch"] = []byte(`[{"op":"add","path":"/metadata/labels","value":{"hooked":"yes"}}]`)
	case "/deny":
		labels, _ := request["object"].(map[string]any)["metadata"].(map[string]any)["labels"].(map[string]any)
		response["allowed"] = labels["hooked"] == "yes"
	case "/rename":
		response["patchType"] = "JSONPatch"
		response["patch"] = []byte(`[{"op":"replace","path":"/metadata/name","value":"other"}]`)
	case "/name":
		response["allowed"] = false
		response["status"] = map[string]any{"message": request["name"]}
	case "/convert":
		response["result"] = map[string]any{"status": "Success"}
		objects := request["objects"].([]any)
		for _, o := range objects {
			o.(map[string]any)["apiVersion"] = request["desiredAPIVersion"]
		}
		response["convertedObjects"] = objects
	}
	review["response"] = response
	_ = json.NewEncoder(w).Encode(review)
}

// Hooked has a validating and a mutating webhook of a Service, and a definition with two
// versions.
func Hooked() fakeapi.Option {
	versions := `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},` +
		`{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`
	return fakeapi.WithObjects(HookConfiguration("MutatingWebhookConfiguration", "/label"), HookConfiguration("ValidatingWebhookConfiguration", "/deny"),
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"toys.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"toys","singular":"toy","kind":"Toy","listKind":"ToyList"},"versions":[`+versions+`]}}`)
}

// CheckHooks checks that the server calls the webhooks.
func CheckHooks(t *testing.T, srv *fakeapi.Server) {
	t.Helper()
	c, obj := Do(t, srv, "POST", ConfigMapsPath, `{"metadata":{"name":"a"}}`)
	require.Equal(t, 201, c, "%v", obj)
	assert.Equal(t, map[string]any{"hooked": "yes"}, obj["metadata"].(map[string]any)["labels"])
	c, obj = Do(t, srv, "POST", "/apis/example.com/v1/namespaces/default/toys", `{"apiVersion":"example.com/v1","kind":"Toy","metadata":{"name":"t"}}`)
	require.Equal(t, 201, c, "%v", obj)
	c, obj = Do(t, srv, "GET", "/apis/example.com/v2/namespaces/default/toys/t", "")
	require.Equal(t, 200, c, "%v", obj)
	assert.Equal(t, "example.com/v2", obj["apiVersion"])
}
