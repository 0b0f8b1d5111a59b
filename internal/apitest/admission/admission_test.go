package admission_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// An admissionRequest is what a webhook is asked.
type admissionRequest struct {
	UID, Operation string
	Object         *struct {
		Metadata struct{ Labels map[string]string }
	}
}

// serveWebhook starts a webhook and returns the clientConfig for it.
func serveWebhook(t testing.TB, respond func(admissionRequest) map[string]any) string {
	t.Helper()
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct{ Request admissionRequest }
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		response := respond(review.Request)
		response["uid"] = review.Request.UID
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": response})
	}))
	t.Cleanup(srv.Close)
	bundle := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
	return fmt.Sprintf(`{"url":%q,"caBundle":%q}`, srv.URL, bundle)
}

// labeller starts a webhook that sets the label seen to the operation, and denies
// objects with the label bad. It returns the clientConfig for it.
func labeller(t testing.TB) string {
	t.Helper()
	return serveWebhook(t, func(r admissionRequest) map[string]any {
		switch {
		case r.Object == nil:
			return map[string]any{"allowed": true}
		case r.Object.Metadata.Labels["bad"] != "":
			return map[string]any{"allowed": false, "status": map[string]any{"message": "bad is bad"}}
		}
		patch := fmt.Sprintf(`[{"op":"add","path":"/metadata/labels","value":{"seen":%q}}]`, r.Operation)
		return map[string]any{"allowed": true, "patchType": "JSONPatch", "patch": []byte(patch)}
	})
}

func labels(obj fakeapi.Object) any {
	meta, _ := obj["metadata"].(map[string]any)
	return meta["labels"]
}

func TestWebhooks(t *testing.T) {
	const configurations = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	code, _ := apitest.Do(t, srv, "POST", configurations, `{"metadata":{"name":"w"},"webhooks":[{"name":"a.example.com","clientConfig":`+labeller(t)+`,
		"admissionReviewVersions":["v1"],"sideEffects":"None","rules":[{"operations":["CREATE","UPDATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`)
	require.Equal(t, http.StatusCreated, code)

	_, created := apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"}}`)
	assert.Equal(t, map[string]any{"seen": "CREATE"}, labels(created))
	_, updated := apitest.Do(t, srv, "PUT", apitest.ConfigMapsPath+"/a", `{"metadata":{"name":"a"},"data":{"k":"v"}}`)
	assert.Equal(t, map[string]any{"seen": "UPDATE"}, labels(updated))
	code, st := apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"b","labels":{"bad":"very"}}}`)
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Equal(t, `admission webhook "a.example.com" denied the request: bad is bad`, st["message"])

	child := srv.Fork(t)
	_, created = apitest.Do(t, child, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"c"}}`)
	assert.Equal(t, map[string]any{"seen": "CREATE"}, labels(created), "a fork calls the same webhooks")
	code, _ = apitest.Do(t, child, "DELETE", configurations+"/w", "")
	require.Equal(t, http.StatusOK, code)
	_, created = apitest.Do(t, child, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"d"}}`)
	assert.Nil(t, labels(created))

	require.NoError(t, srv.Reset())
	_, created = apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"}}`)
	assert.Nil(t, labels(created), "Reset removes the configuration")
}

// patcher returns the configuration of a webhook that patches widgets.
func patcher(t testing.TB, patch string) string {
	t.Helper()
	return fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{"name":"patcher"},"webhooks":[{"name":"a.example.com","clientConfig":%s,
		"admissionReviewVersions":["v1"],"sideEffects":"None","rules":[{"operations":["CREATE","UPDATE"],"apiGroups":["example.com"],"apiVersions":["*"],"resources":["widgets"]}]}]}`,
		serveWebhook(t, func(admissionRequest) map[string]any {
			return map[string]any{"allowed": true, "patchType": "JSONPatch", "patch": []byte(patch)}
		}))
}

// A custom resource that a webhook has patched is not decoded before it is stored.
func TestMutatedCustomResource(t *testing.T) {
	replace := func(path, value string) string {
		return fmt.Sprintf(`[{"op":"replace","path":%q,"value":%s}]`, path, value)
	}
	for _, row := range []struct{ name, patch, want string }{
		{"another kind", replace("/kind", `"Other"`), `Other.example.com "w" is invalid: kind: Invalid value: "Other": must be Widget`},
		{"another group", replace("/apiVersion", `"v1"`), `/v1, Kind=Widget is unstructured and is not suitable for converting to "example.com/v1"`},
		{"an unknown version", replace("/apiVersion", `"example.com/v9"`), "request to convert CR from an invalid group/version: example.com/v9"},
		{"no kind", replace("", `{"spec":{}}`), `Internal error occurred: Object 'Kind' is missing in '{"spec":{}}'`},
		{"metadata that is no object", replace("/metadata", "[]"), "Internal error occurred: system metadata was not initialized"},
		{"labels that are no strings", `[{"op":"add","path":"/metadata/labels","value":{"a":1}},{"op":"add","path":"/metadata/annotations","value":{"b":"c"}}]`, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.Widgets("v1", ""), patcher(t, row.patch)))
			_, answer := apitest.Do(t, srv, "POST", apitest.WidgetsPath, apitest.Widget)
			if row.want != "" {
				assert.Equal(t, row.want, answer["message"])
				return
			}
			meta, _ := answer["metadata"].(map[string]any)
			assert.NotContains(t, meta, "labels")
			assert.Equal(t, map[string]any{"b": "c"}, meta["annotations"])
		})
	}
}

// Names are generated for a POST only. A selfLink is not stored, and a resourceVersion that is no
// number fails an apply.
func TestMutatedNames(t *testing.T) {
	const unnamed = `[{"op":"remove","path":"/metadata/name"},{"op":"add","path":"/metadata/generateName","value":"w-"}]`
	const apply = "application/apply-patch+yaml"
	for _, tt := range []struct{ name, method, path, format, patch, want string }{
		{"no name of a POST", "POST", "", "application/json", unnamed, ""},
		{"no name of an apply", "PATCH", "/w?fieldManager=m", apply, unnamed, "Internal error occurred: metadata.name was not generated"},
		{"selfLink of a POST", "POST", "", "application/json", `[{"op":"add","path":"/metadata/selfLink","value":"/x"}]`, ""},
		{"selfLink of an apply", "PATCH", "/w?fieldManager=m", apply, `[{"op":"add","path":"/metadata/selfLink","value":"/x"}]`, ""},
		{"resourceVersion of a POST", "POST", "", "application/json", `[{"op":"add","path":"/metadata/resourceVersion","value":"x"}]`, ""},
		{"resourceVersion of an apply", "PATCH", "/w?fieldManager=m", apply, `[{"op":"add","path":"/metadata/resourceVersion","value":"x"}]`,
			`strconv.ParseUint: parsing "x": invalid syntax`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.Widgets("v1", ""), patcher(t, tt.patch)))
			code, answer := apitest.DoWithHeaders(t, srv, tt.method, apitest.WidgetsPath+tt.path, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}`, "Content-Type", tt.format)
			if tt.want != "" {
				assert.Equal(t, 500, code)
				assert.Equal(t, tt.want, answer["message"])
				return
			}
			require.Equal(t, 201, code, answer)
			meta, _ := answer["metadata"].(map[string]any)
			assert.Regexp(t, "^w(-[a-z0-9]{5})?$", meta["name"])
			assert.NotContains(t, meta, "selfLink")
		})
	}
}

// A field that a webhook adds and the schema does not have raises the generation, although it is
// not stored.
func TestMutatedUnknownField(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.Widgets("v1", ""), patcher(t, `[{"op":"add","path":"/unknown","value":1}]`)))
	_, created := apitest.Do(t, srv, "POST", apitest.WidgetsPath, apitest.Widget)
	require.Equal(t, "Widget", created["kind"])
	assert.NotContains(t, created, "unknown")
	meta, _ := created["metadata"].(map[string]any)
	meta["labels"] = map[string]any{"a": "b"}
	body, err := json.Marshal(created)
	require.NoError(t, err)
	_, updated := apitest.Do(t, srv, "PUT", apitest.WidgetsPath+"/w", string(body))
	meta, _ = updated["metadata"].(map[string]any)
	assert.EqualValues(t, 2, meta["generation"])
	assert.NotContains(t, updated, "unknown")
}

func TestWebhookBundle(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: a},
		webhooks: [{name: a.example.com, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {url: "https://127.0.0.1:1/", caBundle: eA==},
		rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}]}`))
	code, answer := apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"}}`)
	assert.Equal(t, 500, code)
	assert.Equal(t, `Internal error occurred: failed calling webhook "a.example.com": could not get REST client: unable to load root certificates: unable to parse bytes as PEM block`, answer["message"])
}

// The server corrects managed fields and owners that a webhook has changed.
func TestMutatedMetadata(t *testing.T) {
	mutation := func(expression string) map[string]any {
		return map[string]any{"patchType": "JSONPatch", "jsonPatch": map[string]any{"expression": expression}}
	}
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(
		fakeapi.Object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": map[string]any{"name": "p"}, "spec": map[string]any{
			"failurePolicy": "Fail", "reinvocationPolicy": "Never",
			"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
				"operations": []any{"CREATE"}, "apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"configmaps"},
			}}},
			"mutations": []any{
				mutation(`[JSONPatch{op: "add", path: "/metadata/managedFields/0/operation", value: "Guess"}]`),
				mutation(`[JSONPatch{op: "add", path: "/metadata/ownerReferences/-", value: object.metadata.ownerReferences[0]}]`),
			},
		}},
		fakeapi.Object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding", "metadata": map[string]any{"name": "b"}, "spec": map[string]any{"policyName": "p"}},
	))
	_, created := apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}]}}`)
	meta, _ := created["metadata"].(map[string]any)
	assert.Len(t, meta["ownerReferences"], 1)
	fields, _ := meta["managedFields"].([]any)
	require.Len(t, fields, 1)
	entry, _ := fields[0].(map[string]any)
	assert.Equal(t, "Update", entry["operation"])
}

// Since v1.37 a JSON patch cannot have a map or a list of the object as a value, if matchConditions
// have read the object.
func TestPatchesWithPartsOfTheObject(t *testing.T) {
	const refused = "policy 'p' with binding 'b' denied request: JSONPath valueExpression evaluated to a type that could not marshal to JSON: type conversion error from 'map(dyn, dyn)' to '*structpb.Value'"
	for _, row := range []struct {
		name, release, value string
		conditions           []any
		custom               bool
		refused              string
	}{
		{"conditions", "1.37", "object.metadata.labels", []any{map[string]any{"name": "c", "expression": "object.metadata.name == 'a'"}}, false, refused},
		{"conditions, v1.36", "1.36", "object.metadata.labels", []any{map[string]any{"name": "c", "expression": "object.metadata.name == 'a'"}}, false, ""},
		{"conditions, custom resource", "1.37", "object.metadata.labels", []any{map[string]any{"name": "c", "expression": "object.metadata.name == 'a'"}}, true, ""},
		{"no conditions", "1.37", "object.metadata.labels", nil, false, ""},
		{"no conditions, the namespace", "1.37", "namespaceObject.metadata.labels", nil, false, refused},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(row.release), fakeapi.WithObjects(
				apitest.Widgets("v1", `"size":{"type":"integer"}`),
				fakeapi.Object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": map[string]any{"name": "p"}, "spec": map[string]any{
					"failurePolicy": "Fail", "reinvocationPolicy": "Never", "matchConditions": row.conditions,
					"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
						"operations": []any{"CREATE"}, "apiGroups": []any{"*"}, "apiVersions": []any{"*"}, "resources": []any{"configmaps", "widgets"},
					}}},
					"mutations": []any{map[string]any{"patchType": "JSONPatch", "jsonPatch": map[string]any{
						"expression": `[JSONPatch{op: "add", path: "/metadata/annotations", value: ` + row.value + `}]`,
					}}},
				}},
				fakeapi.Object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding", "metadata": map[string]any{"name": "b"}, "spec": map[string]any{"policyName": "p"}},
			))
			path, body := apitest.ConfigMapsPath, `{"metadata":{"name":"a","labels":{"x":"y"}}}`
			if row.custom {
				path, body = apitest.WidgetsPath, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","labels":{"x":"y"}}}`
			}
			code, answer := apitest.Do(t, srv, "POST", path, body)
			if row.refused != "" {
				assert.Equal(t, 403, code)
				assert.Equal(t, row.refused, answer["message"])
				return
			}
			require.Equal(t, 201, code, answer)
			meta, _ := answer["metadata"].(map[string]any)
			assert.Equal(t, map[string]any{"x": "y"}, meta["annotations"])
		})
	}
}

// The result of an ApplyConfiguration of a policy is decoded as the kind of the object.
func TestAppliedPolicyValues(t *testing.T) {
	policy := func(expression string) []any {
		return []any{
			fakeapi.Object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": map[string]any{"name": "p"}, "spec": map[string]any{
				"failurePolicy": "Fail", "reinvocationPolicy": "Never",
				"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
					"operations": []any{"CREATE"}, "apiGroups": []any{"*"}, "apiVersions": []any{"*"}, "resources": []any{"leases", "configmaps"},
				}}},
				"mutations": []any{map[string]any{"patchType": "ApplyConfiguration", "applyConfiguration": map[string]any{"expression": expression}}},
			}},
			fakeapi.Object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding", "metadata": map[string]any{"name": "b"}, "spec": map[string]any{"policyName": "p"}},
		}
	}
	const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	for _, row := range []struct{ name, expression, path, refused string }{
		{"an integer", "Object{spec: Object.spec{leaseTransitions: 2}}", leases, ""},
		{"a fraction for an integer", "Object{spec: Object.spec{leaseTransitions: 1.5}}", leases,
			"policy 'p' with binding 'b' denied request: unable to convert unstructured object to coordination.k8s.io/v1, Kind=Lease: cannot convert float64 to int32"},
		{"an infinity", "Object{spec: Object.spec{leaseTransitions: 1.0/0.0}}", leases,
			"policy 'p' with binding 'b' denied request: error applying patch: the ApplyConfiguration expression has a number that JSON does not have"},
		{"nothing", "Object{immutable: optional.none()}", apitest.ConfigMapsPath, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(policy(row.expression)...))
			code, created := apitest.Do(t, srv, "POST", row.path, `{"metadata":{"name":"a"}}`)
			if row.refused != "" {
				assert.Equal(t, 403, code)
				assert.Equal(t, row.refused, created["message"])
				return
			}
			require.Equal(t, 201, code, created)
			assert.NotContains(t, created, "immutable")
			_, list := apitest.GetAs(t, srv, row.path, "application/vnd.kubernetes.protobuf")
			assert.Contains(t, list, "List", "it can be encoded")
		})
	}
}

func TestPolicies(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(
		fakeapi.Object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": map[string]any{"name": "p"}, "spec": map[string]any{
			"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
				"operations": []any{"*"}, "apiGroups": []any{"apps"}, "apiVersions": []any{"v1"}, "resources": []any{"deployments", "deployments/scale"},
			}}},
			"validations": []any{map[string]any{"expression": "request.operation == 'DELETE' ? oldObject.spec.replicas == 0 : object.spec.replicas < 3"}},
		}},
		fakeapi.Object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": map[string]any{"name": "b"},
			"spec": map[string]any{"policyName": "p", "validationActions": []any{"Deny"}}},
	))
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	deployment := func(replicas int) string {
		return fmt.Sprintf(`{"metadata":{"name":"d"},"spec":{"replicas":%d,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`, replicas)
	}
	for _, step := range []struct {
		name, method, path, body string
		code                     int
	}{
		{"too many", "POST", deployments, deployment(3), http.StatusUnprocessableEntity},
		{"few", "POST", deployments, deployment(2), http.StatusCreated},
		{"scaled too far", "PUT", deployments + "/d/scale", `{"metadata":{"name":"d"},"spec":{"replicas":4}}`, http.StatusUnprocessableEntity},
		{"deleted", "DELETE", deployments + "/d", "", http.StatusUnprocessableEntity},
		{"all deleted", "DELETE", deployments, "", http.StatusUnprocessableEntity},
		{"scaled", "PUT", deployments + "/d/scale", `{"metadata":{"name":"d"},"spec":{"replicas":0}}`, http.StatusOK},
		{"deleted in the end", "DELETE", deployments + "/d", "", http.StatusOK},
	} {
		code, answer := apitest.Do(t, srv, step.method, step.path, step.body)
		assert.Equal(t, step.code, code, "%s: %v", step.name, answer["message"])
	}
}

// Admission gets the grace period of a Pod with the deletion of one, and not with that of a
// collection.
func TestAdmittedGracePeriod(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(
		fakeapi.Object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": map[string]any{"name": "p"}, "spec": map[string]any{
			"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
				"operations": []any{"DELETE"}, "apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"pods"},
			}}},
			"validations": []any{map[string]any{"expression": "!has(request.options.gracePeriodSeconds)"}},
		}},
		fakeapi.Object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": map[string]any{"name": "b"},
			"spec": map[string]any{"policyName": "p", "validationActions": []any{"Deny"}}},
	))
	code, _ := apitest.Do(t, srv, "POST", apitest.PodsPath, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	require.Equal(t, http.StatusCreated, code)
	code, _ = apitest.Do(t, srv, "DELETE", apitest.PodsPath+"p", "")
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	code, _ = apitest.Do(t, srv, "DELETE", apitest.PodsPath, "")
	assert.Equal(t, http.StatusOK, code)
}

// Admission also runs for CONNECT, subresources and reviews.
func TestAdmittedRequests(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	apitest.RunPod(t, srv, "p", "True")
	apitest.Put(t, srv, fakeapi.Object{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": "default", "namespace": "default"}})
	apitest.Put(t, srv, fakeapi.Object{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": map[string]any{"name": "w"},
		"webhooks": []any{map[string]any{
			"name": "a.example.com", "clientConfig": map[string]any{"url": "https://127.0.0.1:1/"}, "admissionReviewVersions": []any{"v1"}, "sideEffects": "None",
			"rules": []any{map[string]any{"operations": []any{"*"}, "apiGroups": []any{"*"}, "apiVersions": []any{"*"}, "resources": []any{"*/*"}}},
		}},
	})
	for _, step := range []struct{ name, method, path, body string }{
		{"exec", "GET", apitest.PodsPath + "p/exec?command=ls", ""},
		{"eviction", "POST", apitest.PodsPath + "p/eviction", `{"metadata":{"name":"p"}}`},
		{"binding", "POST", apitest.PodsPath + "p/binding", `{"metadata":{"name":"p"},"target":{"name":"n"}}`},
		{"status", "PATCH", apitest.PodsPath + "p/status", `{}`},
		{"token", "POST", "/api/v1/namespaces/default/serviceaccounts/default/token", `{}`},
		{"deletion", "DELETE", apitest.PodsPath + "p", ""},
	} {
		code, st := apitest.Do(t, srv, step.method, step.path, step.body)
		assert.Equal(t, http.StatusInternalServerError, code, step.name)
		assert.Contains(t, st["message"], `failed calling webhook "a.example.com"`, step.name)
	}
	code, _ := apitest.Do(t, srv, "GET", apitest.PodsPath+"p", "")
	assert.Equal(t, http.StatusOK, code, "reads are not admitted")
}
