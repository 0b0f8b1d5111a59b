//go:build go1.24

package requests_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// An invalid request fails with a Status that says why, and writes nothing.
func TestInvalidRequests(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	const all, one = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/configmaps/a"
	huge := `{"metadata":{"name":"b"},"data":{"x":"` + strings.Repeat("x", 3<<20) + `"}}`
	tests := []struct {
		name, method, path, body string
		code                     int
		message                  string
	}{
		{"no body", "POST", all, "", 400, "ConfigMap"},
		{"incomplete JSON", "POST", all, `{"metadata":{"name":"b"`, 400, "unexpected end of JSON input"},
		{"an array", "POST", all, `[]`, 400, "ConfigMap"},
		{"null", "POST", all, `null`, 422, "name or generateName is required"},
		{"wrong type", "POST", all, `{"metadata":{"name":3}}`, 400, "cannot unmarshal number"},
		{"other kind", "POST", all, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}`, 400, "cannot be handled as a ConfigMap"},
		{"unregistered kind", "POST", all, `{"apiVersion":"v9","kind":"Pod","metadata":{"name":"b"}}`, 400, `no kind "Pod" is registered`},
		{"other namespace", "POST", all, `{"metadata":{"name":"b","namespace":"c"}}`, 400, "does not match the namespace sent on the request"},
		{"other name", "PUT", one, `{"metadata":{"name":"b"}}`, 400, "does not match the name on the URL"},
		{"bad name", "POST", all, `{"metadata":{"name":"B"}}`, 422, "metadata.name"},
		{"too long", "POST", all, huge, 413, "limit is 3145728"},
		{"too long for PUT", "PUT", one, huge, 413, "limit is 3145728"},
		{"too long for DELETE", "DELETE", one, huge, 413, "limit is 3145728"},

		{"limit", "GET", all + "?limit=ten", "", 400, "ten"},
		{"timeout", "GET", all + "?watch=1&timeoutSeconds=x", "", 400, "x"},
		{"version of a list", "GET", all + "?resourceVersion=x", "", 400, "invalid resource version"},
		{"version match", "GET", all + "?resourceVersionMatch=Newest&resourceVersion=1", "", 422, "resourceVersionMatch"},
		{"label selector", "GET", all + "?labelSelector=a+in+b", "", 400, "unable to parse"},
		{"field selector", "GET", all + "?fieldSelector=data=1", "", 400, "data"},
		{"continue", "GET", all + "?continue=x", "", 400, "continue"},
		{"dry run", "POST", all + "?dryRun=some", `{"metadata":{"name":"b"}}`, 422, "dryRun"},
		{"field validation", "POST", all + "?fieldValidation=some", `{"metadata":{"name":"b"}}`, 422, "fieldValidation"},
		{"query", "GET", all + "?%zz=1&;", "", 200, ""},

		{"no such resource", "GET", "/api/v1/namespaces/default/nothings", "", 404, "could not find the requested resource"},
		{"no such version", "GET", "/api/v2/pods", "", 404, "could not find the requested resource"},
		{"name without namespace", "GET", "/api/v1/configmaps/a", "", 404, "could not find the requested resource"},
		{"too deep", "GET", one + "/status/b/c", "", 404, "could not find the requested resource"},
		{"no such subresource", "GET", one + "/log", "", 404, "could not find the requested resource"},
		{"method", "POST", one, "{}", 405, "does not allow this method"},
		{"HEAD", "HEAD", one, "", 405, ""},
	}
	before := srv.Revision()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, answer := apitest.Do(t, srv, tt.method, tt.path, tt.body)
			assert.Equal(t, tt.code, code)
			if tt.message != "" {
				assert.Equal(t, "Status", answer["kind"])
				assert.Equal(t, float64(tt.code), answer["code"])
				assert.Contains(t, answer["message"], tt.message)
			}
		})
	}
	assert.Equal(t, before, srv.Revision())
}

// FuzzRequest sends random requests. The server must not panic, and the body of a
// failure must be a Status or text.
func FuzzRequest(f *testing.F) {
	const maps = "/api/v1/namespaces/default/configmaps"
	for _, seed := range []struct{ method, path, query, contentType, body string }{
		{"GET", "/", "", "", ""},
		{"GET", "/apis/", "", "", ""},
		{"GET", "/readyz/ping", "verbose&exclude=etcd", "", ""},
		{"GET", "/openapi/v3/api/v1", "hash=1", "", ""},
		{"GET", "/api/v1/pods", "limit=1&continue=abc&labelSelector=a%20in%20(b)&fieldSelector=status.phase!%3DRunning", "", ""},
		{"GET", maps, "watch=1&resourceVersion=3&allowWatchBookmarks=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan", "", ""},
		{"GET", "/api/v1/watch/namespaces//configmaps/a", "", "", ""},
		{"GET", "/api/v1/namespaces/default", "resourceVersion=99", "", ""},
		{"POST", maps, "dryRun=All&fieldManager=m&fieldValidation=Strict", "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"a-","ownerReferences":[{},{}]},"data":{"a":"b"},"x":1}`},
		{"POST", "/apis/apps/v1/namespaces/default/deployments", "", "application/json", `{"metadata":{"name":"d"},"spec":{"replicas":1e3,"selector":{"matchLabels":null},"template":{}}}`},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", "application/yaml", "spec: {}"},
		{"PUT", maps + "/a", "", "application/json", `{"metadata":{"name":"a","resourceVersion":"x","finalizers":["a"]}}`},
		{"PUT", "/api/v1/namespaces/default/finalize", "", "application/json", `{"metadata":{"name":"default"},"spec":{"finalizers":[]}}`},
		{"PATCH", maps + "/a", "fieldManager=m&force=true", "application/apply-patch+yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"},
		{"PATCH", maps + "/a", "", "application/json-patch+json", `[{"op":"test","path":"/data/key","value":"1"},{"op":"move","from":"/data","path":"/data/-"}]`},
		{"PATCH", maps + "/a", "", "application/strategic-merge-patch+json", `{"metadata":{"finalizers":["a"],"$setElementOrder/finalizers":["b"]},"data":{"$patch":"replace"}}`},
		{"DELETE", maps + "/a", "propagationPolicy=Foreground", "application/json", `{"kind":"DeleteOptions","gracePeriodSeconds":-1,"preconditions":{"uid":"a"}}`},
		{"DELETE", maps, "labelSelector=!a", "", "{}"},
		{"POST", "/debug/fakeapi/restore", "", "", `{"name":"none"}`},
		{"OPTIONS", "//api//v1/pods/../..", "a=%00;b", "text/plain; q", "\x00"},
	} {
		f.Add(seed.method, seed.path, seed.query, seed.contentType, seed.body)
	}
	parent, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithSeed(1), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	require.NoError(f, err)
	f.Cleanup(parent.Close)
	f.Fuzz(func(t *testing.T, method, path, query, contentType, body string) {
		// With a cancelled context, watches and reads that wait for a version end at
		// once.
		ended, end := context.WithCancel(t.Context())
		end()
		req, err := http.NewRequestWithContext(ended, method, "http://server/", strings.NewReader(body))
		if err != nil {
			return // net/http rejects such a method
		}
		req.URL.Path, req.URL.RawQuery = path, query
		req.Header.Set("Content-Type", contentType)
		srv, err := parent.NewFork()
		require.NoError(t, err)
		defer srv.Close()
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, req)

		for _, r := range srv.Requests() {
			require.Empty(t, r.Panic)
		}
		if w.Code < 400 || method == http.MethodHead {
			return
		}
		if w.Code == http.StatusNotFound && w.Body.Len() == 0 {
			require.True(t, strings.HasPrefix(path, "/openapi/"), "only there kube-apiserver says nothing")
			return
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
			require.NotEmpty(t, w.Body.String())
			return
		}
		var status struct {
			Kind, Status, Message string
			Code                  int
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &status), "%s", w.Body)
		require.Equal(t, "Status", status.Kind)
		require.Equal(t, "Failure", status.Status)
		require.Equal(t, w.Code, status.Code)
		require.NotContains(t, status.Message, "panic")
	})
}
