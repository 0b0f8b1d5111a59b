package objects_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// TestUnsafeDeletion checks what AllowUnsafeMalformedObjectDeletion, which is on in v1.37,
// changes: the options of deletions, and errors about objects that do not convert.
func TestUnsafeDeletion(t *testing.T) {
	const (
		option  = "?ignoreStoreReadErrorWithClusterBreakingPotential=true"
		widgets = "/apis/example.com/v1/widgets"
		failed  = "conversion webhook for example.com/v1beta1, Kind=Widget failed: "
	)
	definition := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster",
		"names":{"plural":"widgets","kind":"Widget"},"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1/convert"}}},"versions":[
		{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v1beta1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
	for _, tt := range []struct {
		release, method, path string
		code                  int
		message               string
	}{
		{"1.36", "DELETE", apitest.ConfigMapsPath + option, 200, ""},
		{"1.37", "DELETE", apitest.ConfigMapsPath + option, 422, "is not allowed with DELETECOLLECTION"},
		{"1.37", "DELETE", apitest.ConfigMapsPath + "/a" + option + "&gracePeriodSeconds=0", 422, "cannot be set together with .gracePeriodSeconds"},
		{"1.37", "DELETE", apitest.ConfigMapsPath + "/none" + option, 404, `configmaps "none" not found`},
		{"1.37", "DELETE", "/api/v1/namespaces/default/services/kubernetes" + option, 409, "StorageError: invalid object, Code: 4, Key: /registry/services/specs/default/kubernetes, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage"},
		{"1.37", "DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical" + option, 409, "the object is decodable"},
		{"1.37", "DELETE", "/api/v1/namespaces/default" + option, 500, "no unsafe deleter provided"},
		{"1.37", "DELETE", "/apis/rbac.authorization.k8s.io/v1/clusterroles/view" + option, 500, "no unsafe deleter provided"},
		{"1.36", "GET", widgets + "/a", 500, failed},
		{"1.37", "GET", widgets + "/a", 500, "Internal error occurred: StorageError: corrupt object, Code: 7, Key: /example.com/widgets/a, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision="},
		{"1.37", "PATCH", widgets + "/a", 500, "object not decodable revision="},
		{"1.37", "DELETE", widgets + "/a", 500, "StorageError: corrupt object"},
	} {
		t.Run(tt.release+" "+tt.method+" "+tt.path, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(tt.release),
				fakeapi.WithObjects(definition, `{"apiVersion":"example.com/v1beta1","kind":"Widget","metadata":{"name":"a"}}`))
			code, body := apitest.Do(t, srv, tt.method, tt.path, map[string]string{"PATCH": "{}"}[tt.method])
			assert.Equal(t, tt.code, code, body)
			if tt.message != "" {
				assert.Contains(t, body["message"], tt.message)
			}
		})
	}
}

// A custom resource that is stored in a version that its definition has lost cannot be read: the watch
// cache does not start. Recorded from kube-apiserver v1.37.2.
func TestUnreadableCustomResources(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	definition := func(versions string) string {
		return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
			"names":{"plural":"widgets","kind":"Widget"},"versions":[` + versions + `]}}`
	}
	version := func(name string, stored bool) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}}`, name, stored)
	}
	const (
		path    = apitest.DefinitionsPath + "/widgets.example.com"
		widgets = "/apis/example.com/v2/namespaces/default/widgets"
		corrupt = "StorageError: corrupt object, Code: 7, Key: /registry/example.com/widgets/default/a, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision="
		failed  = "failed to read one or more widgets.example.com from the storage: " + corrupt
		cached  = "storage is (re)initializing: failed to list <unspecified>: " + failed
	)
	require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.DefinitionsPath, definition(version("v1", true)+","+version("v2", false))))
	for _, name := range []string{"a", "b"} {
		require.Equal(t, 201, apitest.Code(t, srv, "POST", "/apis/example.com/v1/namespaces/default/widgets", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"`+name+`"}}`))
	}
	for _, step := range []struct{ path, body string }{
		{path, definition(version("v1", false) + "," + version("v2", true))},
		{path + "/status", `{"status":{"storedVersions":["v2"]}}`},
		{path, definition(version("v2", true))},
	} {
		require.Equal(t, 200, apitest.Code(t, srv, "PATCH", step.path, step.body))
	}
	for _, tt := range []struct{ name, conversion string }{
		{"with a webhook", `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1"}}}`},
		{"without a webhook", `{"strategy":"None","webhook":null}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, 200, apitest.Code(t, srv, "PATCH", path, `{"spec":{"conversion":`+tt.conversion+`}}`))
			for _, method := range []string{"GET", "DELETE"} {
				code, body := apitest.Do(t, srv, method, widgets+"/a", "")
				assert.Equal(t, 500, code, method)
				assert.Equal(t, "InternalError", body["reason"], method)
				assert.Contains(t, body["message"], "Internal error occurred: StorageError: corrupt object, Code: 7, Key: /example.com/widgets/default/a, ", method)
			}
		})
	}
	for _, tt := range []struct {
		method, query string
		code          int
		reason        any
		message       string
		causes        int
	}{
		{"GET", "", 429, "TooManyRequests", cached, 0},
		{"GET", "?resourceVersion=0", 429, "TooManyRequests", cached, 0},
		{"GET", "?watch=true", 429, "TooManyRequests", cached, 0},
		{"GET", "?limit=1", 500, "StorageReadError", failed, 2},
		{"DELETE", "", 500, "StorageReadError", failed, 2},
	} {
		t.Run(tt.method+" "+tt.query, func(t *testing.T) {
			code, body := apitest.Do(t, srv, tt.method, widgets+tt.query, "")
			assert.Equal(t, tt.code, code)
			assert.Equal(t, tt.reason, body["reason"])
			assert.Contains(t, body["message"], tt.message)
			assert.Contains(t, body["message"], ": request to convert CR from an invalid group/version: example.com/v1 (and 1 more)")
			causes, _ := body["details"].(map[string]any)["causes"].([]any)
			assert.Len(t, causes, tt.causes)
		})
	}
	const unsafe = "?ignoreStoreReadErrorWithClusterBreakingPotential=true"
	for _, tt := range []struct {
		method, path string
		code         int
	}{
		{"DELETE", widgets + "/b", 500},
		{"DELETE", widgets + "/b" + unsafe + "&dryRun=All", 200},
		{"DELETE", widgets + "/b" + unsafe, 200},
		{"DELETE", widgets + "/b" + unsafe, 404},
	} {
		code, body := apitest.Do(t, srv, tt.method, tt.path, "")
		assert.Equal(t, tt.code, code, tt.path)
		if code == 200 {
			assert.Equal(t, fakeapi.Object{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Success", "details": map[string]any{"name": "b", "kind": "Widget"}, "code": 200.0}, body)
		}
	}
	require.Equal(t, 200, apitest.Code(t, srv, "DELETE", path, ""))
	_, obj := apitest.Do(t, srv, "GET", path, "")
	assert.Contains(t, fmt.Sprint(obj["status"]), "could not list instances: "+cached)
}

// TestUnsafeDeletionPermission checks that a deletion that ignores read errors needs a verb of its own.
func TestUnsafeDeletionPermission(t *testing.T) {
	role := func(verbs string) string {
		return `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"deleter"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":[` + verbs + `]}]}`
	}
	for _, tt := range []struct {
		verbs   string
		code    int
		message string
	}{
		{`"delete"`, 403, `configmaps "a" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: `},
		{`"delete","unsafe-delete-ignore-read-errors"`, 404, `configmaps "a" not found`},
	} {
		t.Run(tt.verbs, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRBAC(), fakeapi.WithToken("alice", fakeapi.User{Name: "alice"}), fakeapi.WithObjects(role(tt.verbs),
				`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"deleter"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"deleter"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"alice"}]}`))
			req, err := http.NewRequest("DELETE", srv.URL+apitest.ConfigMapsPath+"/a?ignoreStoreReadErrorWithClusterBreakingPotential=true", nil)
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer alice")
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			assert.Equal(t, tt.code, resp.StatusCode)
			assert.Equal(t, tt.message, apitest.Answer(t, resp)["message"])
		})
	}
}
