package requests_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// Requests that clients seldom make.
func TestRareRequests(t *testing.T) {
	const configMaps = "/api/v1/namespaces/default/configmaps"
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRBAC(), fakeapi.WithObjects(apitest.ScaledDefinition,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}}`),
		fakeapi.WithToken("root-token", fakeapi.User{Name: "root", Groups: []string{"system:masters"}}),
		fakeapi.WithToken("alice-token", fakeapi.User{Name: "alice"}))
	for _, tt := range []struct {
		name, method, path, token, accept string
		code                              int
		want                              string
	}{
		{"watch of nothing", "GET", "/api/v1/watch", "zz", "", 500, `Internal Server Error: "/api/v1/watch": failed to create RequestInfo: unable to determine kind and namespace from url, `},
		{"old proxy", "GET", "/api/v1/proxy/nodes/x", "root-token", "", 404, "the server could not find the requested resource"},
		{"old proxy, forbidden", "GET", "/api/v1/proxy/nodes/x", "alice-token", "", 403, `cannot proxy resource \"nodes\"`},
		{"old watch by another method", "POST", "/api/v1/watch/pods", "root-token", "", 405, "MethodNotAllowed"},
		{"old watch by another method, forbidden", "POST", "/api/v1/watch/pods", "alice-token", "", 403, `cannot watch resource \"pods\"`},
		{"group path, forbidden", "POST", "/apis/zzz.io", "alice-token", "", 403, `"forbidden: User \"alice\" cannot post path \"/apis/zzz.io\""`},
		{"empty group", "GET", "/apis//v1/pods", "root-token", "", 404, "404 page not found"},
		{"slashes at the end", "GET", "/api/v1/namespaces/default//", "root-token", "", 200, `"kind":"Namespace"`},
		{"namespaces in a namespace", "GET", "/api/v1/namespaces/default/namespaces", "root-token", "", 404, "the server could not find the requested resource"},
		{"namespace in a namespace", "GET", "/api/v1/namespaces/default/namespaces/default", "root-token", "", 404, "the server could not find the requested resource"},
		{"nodes in no namespace", "GET", "/api/v1/namespaces//nodes", "root-token", "", 404, "the server could not find the requested resource"},
		{"a Pod in no namespace", "GET", "/api/v1/namespaces//pods/p", "root-token", "", 400, "Namespace parameter required."},
		{"status of a Pod in no namespace", "PATCH", "/api/v1/namespaces//pods/p/status", "root-token", "{}", 400, "Namespace parameter required."},
		{"status of no Pod", "GET", "/api/v1/namespaces/default/pods//status", "root-token", "", 400, "name must be provided"},
		{"new status of no Pod", "PUT", "/api/v1/namespaces/default/pods//status", "root-token", "", 400, "name must be provided"},
		{"binding of no Pod", "POST", "/api/v1/namespaces/default/pods//binding", "root-token", "", 400, "name must be provided"},
		{"deleted binding of no Pod", "DELETE", "/api/v1/namespaces/default/pods//binding", "root-token", "", 405, "MethodNotAllowed"},
		{"unknown subresource of no Pod", "GET", "/api/v1/namespaces/default/pods//nope", "root-token", "", 404, "the server could not find the requested resource"},
		{"unknown subresource in no namespace", "GET", "/api/v1/namespaces//pods/p/nope", "root-token", "", 404, "the server could not find the requested resource"},
		{"all Pods in no namespace", "DELETE", "/api/v1/namespaces//pods", "root-token", "", 400, "Namespace parameter required."},
		{"Pods in no namespace", "GET", "/api/v1/namespaces//pods", "root-token", "", 200, `"kind":"PodList"`},
		{"export", "GET", configMaps + "/a?export=true", "root-token", "", 400, "the export parameter, deprecated since v1.14, is no longer supported"},
		{"export of a status", "GET", "/api/v1/namespaces/default/status?export=true", "root-token", "", 400, "the export parameter, deprecated since v1.14, is no longer supported"},
		{"no export", "GET", configMaps + "/a?export=false", "root-token", "", 200, `"kind":"ConfigMap"`},
		{"number before selector", "GET", configMaps + "?fieldSelector=bad&limit=x", "root-token", "", 400, `strconv.ParseInt: parsing \"x\": invalid syntax`},
		{"continue with a name", "GET", configMaps + "?fieldSelector=metadata.name%3Da&continue=bad", "root-token", "", 400, "invalid continue token"},
		{"keys with a slash", "GET", "/openid/v1/jwks/", "root-token", "", 200, `"keys"`},
		{"keys with slashes", "GET", "/openid/v1/jwks//", "root-token", "", 200, `"keys"`},
		{"below the keys", "GET", "/openid/v1/jwks/x", "root-token", "", 404, "the server could not find the requested resource"},
		{"version with slashes", "GET", "/version//", "root-token", "", 200, `"gitVersion"`},
		{"below the version", "GET", "/version/x", "root-token", "", 404, "the server could not find the requested resource"},
		{"metrics by another method", "POST", "/metrics", "root-token", "", 200, "# TYPE apiserver_request_total counter"},
		{"reset of metrics", "DELETE", "/metrics", "root-token", "", 200, "metrics reset\n"},
		{"reset of health metrics", "DELETE", "/metrics/slis", "root-token", "", 200, "metrics reset\n"},
		{"priority levels", "GET", "/debug/api_priority_and_fairness/dump_priority_levels", "root-token", "", 200, "catch-all,         0,            true,   false,       0, "},
		{"queues by another method", "POST", "/debug/api_priority_and_fairness/dump_queues", "root-token", "", 200, "workload-low,      127,    0,               0,                 0,          0.00000000ss,  0,               0,           0.00000000ss\n"},
		{"queued requests", "GET", "/debug/api_priority_and_fairness/dump_requests", "root-token", "", 200, "AdditionalLatency, StartTime\n"},
		{"queued requests with details", "GET", "/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1", "root-token", "", 200, "StartTime, UserName, Verb,   APIPath, "},
		{"other priority and fairness", "GET", "/debug/api_priority_and_fairness/", "root-token", "", 404, "404 page not found"},
		{"profile", "GET", "/debug/pprof/heap", "root-token", "", 501, "not implemented: /debug/pprof/heap"},
		{"flags", "GET", "/debug/flags", "root-token", "", 501, "not implemented: /debug/flags"},
		{"version as text", "GET", "/version", "root-token", "text/plain", 406, `406: Not Acceptable\n\nAvailable representations: application/json`},
		{"unknown subresource by HEAD", "HEAD", configMaps + "/a/unknown", "root-token", "", 404, ""},
		{"object by HEAD", "HEAD", configMaps + "/a", "root-token", "", 405, ""},
		{"watch of what cannot be watched, in no media type", "GET", "/api/v1/componentstatuses?watch=1", "root-token", "x/y", 406, "406: Not Acceptable"},
		{"watch of what cannot be watched", "GET", "/api/v1/componentstatuses?watch=1", "root-token", "", 405, "watch is not supported on resources of kind"},
		{"watch of what cannot be watched, by an unknown field", "GET", "/api/v1/componentstatuses?watch=1&fieldSelector=x%3Dy", "root-token", "", 400, `\"x\" is not a known field selector`},
		{"log in no media type", "GET", "/api/v1/namespaces/default/pods/x/log", "root-token", "x/y", 406, "Available representations: text/plain, application/json"},
		{"log as a Table", "GET", "/api/v1/namespaces/default/pods/x/log", "root-token", "application/json;as=Table;g=meta.k8s.io;v=v1", 406, "only the following media types are accepted: application/json"},
		{"subresource that is no Table", "GET", "/api/v1/namespaces/default/pods/x/resize", "root-token", "application/json;as=Table;g=meta.k8s.io;v=v1", 406, "only the following media types are accepted: application/json"},
		{"subresource as a Table or not", "GET", "/api/v1/namespaces/default/pods/x/resize", "root-token", "application/json;as=Table;g=meta.k8s.io;v=v1,application/json", 404, `pods \"x\" not found`},
		{"status as a Table", "GET", "/api/v1/namespaces/default/pods/x/status", "root-token", "application/json;as=Table;g=meta.k8s.io;v=v1", 404, `pods \"x\" not found`},
		{"discovery of any subtype", "GET", "/api", "root-token", "application/*", 406, "Available representations: application/json"},
		{"connection in any media type", "GET", "/api/v1/namespaces/default/pods/x/exec?command=a", "root-token", "x/y", 404, `pods \"x\" not found`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest(tt.method, srv.URL+tt.path, nil)
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+tt.token)
			if tt.accept != "" {
				req.Header.Set("Accept", tt.accept)
			}
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, tt.code, resp.StatusCode)
			assert.Contains(t, string(body), tt.want)
		})
	}
}

// Bodies of other kinds than the path has: what kube-apiserver says depends on the schemes
// in which it decodes them.
func TestBodiesOfOtherKinds(t *testing.T) {
	const (
		configMap   = "/api/v1/namespaces/default/configmaps/a"
		definition  = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a"
		apiServices = "/apis/apiregistration.k8s.io/v1/apiservices/a"
		notFound    = `configmaps "a" not found`
	)
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, tt := range []struct{ name, method, path, version, kind, want string }{
		{"options of any version", "DELETE", configMap, "example.com/v9", "DeleteOptions", notFound},
		{"options of no kind", "DELETE", configMap, "", "", notFound},
		{"Status instead of options", "DELETE", configMap, "example.com/v9", "Status", "converting (v1.Status) to (v1.DeleteOptions): unknown conversion"},
		{"other options", "DELETE", configMap, "meta.k8s.io/v1", "ListOptions", "converting (v1.ListOptions) to (v1.DeleteOptions): unknown conversion"},
		{"other options of another version", "DELETE", configMap, "v1", "ListOptions", `no kind "ListOptions" is registered for version "v1"`},
		{"Table of an old version", "DELETE", configMap, "meta.k8s.io/v1beta1", "Table", "converting (v1.Table) to (v1.DeleteOptions): unknown conversion"},
		{"list with a type of its own version", "DELETE", configMap, "meta.k8s.io/v1beta1", "PartialObjectMetadataList", "converting (v1beta1.PartialObjectMetadataList) to (v1.DeleteOptions)"},
		{"object instead of options", "DELETE", configMap, "v1", "ConfigMap", `no kind "ConfigMap" is registered`},
		{"options as an object", "PUT", configMap, "v1", "DeleteOptions", "converting (v1.DeleteOptions) to (core.ConfigMap): unknown conversion"},
		{"options of meta.k8s.io as an object", "PUT", configMap, "meta.k8s.io/v1", "DeleteOptions", `no kind "DeleteOptions" is registered for version "meta.k8s.io/v1"`},
		{"Table as an object", "PUT", configMap, "v1", "Table", `no kind "Table" is registered for version "v1"`},
		{"Status of any version as an object", "PUT", configMap, "example.com/v9", "Status", "converting (v1.Status) to (core.ConfigMap): unknown conversion"},
		{"definition as an object", "PUT", configMap, "apiextensions.k8s.io/v1", "CustomResourceDefinition", `no kind "CustomResourceDefinition" is registered`},
		{"object as a definition", "PUT", definition, "v1", "Binding", `no kind "Binding" is registered for version "v1"`},
		{"binding as an object", "PUT", configMap, "v1", "Binding", "json: cannot unmarshal number into Go struct field Binding.target of type v1.ObjectReference"},
		{"options as a definition", "PUT", definition, "v1", "ListOptions", "converting (v1.ListOptions) to (apiextensions.CustomResourceDefinition): unknown conversion"},
		{"event of any version as a definition", "PUT", definition, "apps/v1", "WatchEvent", "converting (v1.WatchEvent) to (apiextensions.CustomResourceDefinition): unknown conversion"},
		{"event as an APIService", "PUT", apiServices, "apps/v1", "WatchEvent", `no kind "WatchEvent" is registered for version "apps/v1"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// The target does not decode, if the scheme has the kind Binding.
			body := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"},"target":1}`, tt.version, tt.kind)
			_, got := apitest.Do(t, srv, tt.method, tt.path, body)
			assert.Contains(t, got["message"], tt.want)
		})
	}
}

// A refusal of the route has no warnings of what the route would serve.
func TestRefusedRequestIsNotWarned(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for accept, warned := range map[string]bool{
		"application/json": true, "x/y": false, "application/json;as=Unknown;g=a;v=b": true,
	} {
		req, err := http.NewRequest("GET", srv.URL+"/api/v1/namespaces/default/endpoints", nil)
		require.NoError(t, err)
		req.Header.Set("Accept", accept)
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, warned, resp.Header.Get("Warning") != "", accept)
	}
}

// A PUT to the status of a missing Service creates it, without addresses.
func TestServiceCreatedByItsStatus(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	code, body := apitest.Do(t, srv, "PUT", "/api/v1/namespaces/default/services/a/status",
		`{"metadata":{"name":"a"},"spec":{"ports":[{"port":80}]},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}`)
	assert.Equal(t, 201, code, body)
	assert.NotContains(t, body["spec"], "clusterIP")
	assert.Equal(t, map[string]any{"loadBalancer": map[string]any{}}, body["status"])
	code, body = apitest.Do(t, srv, "PATCH", "/api/v1/namespaces/default/services/b/status", `{"spec":{"ports":[{"port":80}]}}`)
	assert.Equal(t, 404, code, body)
}
