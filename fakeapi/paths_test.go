package fakeapi_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// Requests that clients seldom make.
func TestRareRequests(t *testing.T) {
	const configMaps = "/api/v1/namespaces/default/configmaps"
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRBAC(), fakeapi.WithObjects(scaledCRD,
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
		{"export", "GET", configMaps + "/a?export=true", "root-token", "", 400, "the export parameter, deprecated since v1.14, is no longer supported"},
		{"no export", "GET", configMaps + "/a?export=false", "root-token", "", 200, `"kind":"ConfigMap"`},
		{"number before selector", "GET", configMaps + "?fieldSelector=bad&limit=x", "root-token", "", 400, `strconv.ParseInt: parsing \"x\": invalid syntax`},
		{"continue with a name", "GET", configMaps + "?fieldSelector=metadata.name%3Da&continue=bad", "root-token", "", 400, "invalid continue token"},
		{"keys with a slash", "GET", "/openid/v1/jwks/", "root-token", "", 200, `"keys"`},
		{"version as text", "GET", "/version", "root-token", "text/plain", 406, `406: Not Acceptable\n\nAvailable representations: application/json`},
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
