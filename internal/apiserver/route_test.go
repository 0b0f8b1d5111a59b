package apiserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParse(t *testing.T) {
	for _, row := range []struct {
		name, method, path string
		want               request
	}{
		{"collection", "GET", "/api/v1/namespaces/ns/pods",
			request{isResource: true, verb: "list", version: "v1", namespace: "ns", resource: "pods"}},
		{"collection with a slash", "GET", "/api/v1/namespaces/ns/pods/",
			request{isResource: true, verb: "list", version: "v1", namespace: "ns", resource: "pods"}},
		{"all namespaces", "GET", "/apis/apps/v1/deployments",
			request{isResource: true, verb: "list", group: "apps", version: "v1", resource: "deployments"}},
		{"empty namespace", "GET", "/api/v1/namespaces//pods",
			request{isResource: true, verb: "list", version: "v1", resource: "pods"}},
		{"object", "GET", "/api/v1/namespaces/ns/pods/a",
			request{isResource: true, verb: "get", version: "v1", namespace: "ns", resource: "pods", name: "a"}},
		{"object, watched", "GET", "/api/v1/namespaces/ns/pods/a?watch=1",
			request{isResource: true, verb: "get", version: "v1", namespace: "ns", resource: "pods", name: "a"}},
		{"subresource", "PUT", "/apis/apps/v1/namespaces/ns/deployments/d/scale",
			request{isResource: true, verb: "update", group: "apps", version: "v1", namespace: "ns", resource: "deployments", name: "d", subresource: "scale"}},
		{"below a subresource", "GET", "/api/v1/namespaces/ns/pods/a/proxy/x/y",
			request{isResource: true, verb: "get", version: "v1", namespace: "ns", resource: "pods", name: "a", subresource: "proxy", more: "x/y"}},
		{"cluster scope", "DELETE", "/api/v1/nodes/n",
			request{isResource: true, verb: "delete", version: "v1", resource: "nodes", name: "n"}},
		{"namespaces", "POST", "/api/v1/namespaces",
			request{isResource: true, verb: "create", version: "v1", resource: "namespaces"}},
		{"namespace", "GET", "/api/v1/namespaces/ns",
			request{isResource: true, verb: "get", version: "v1", namespace: "ns", resource: "namespaces", name: "ns"}},
		{"namespace's finalizers", "PUT", "/api/v1/namespaces/ns/finalize",
			request{isResource: true, verb: "update", version: "v1", namespace: "ns", resource: "namespaces", name: "ns", subresource: "finalize"}},
		{"watch", "GET", "/api/v1/pods?watch=true",
			request{isResource: true, verb: "watch", version: "v1", resource: "pods"}},
		{"watch without a value", "GET", "/api/v1/pods?watch",
			request{isResource: true, verb: "watch", version: "v1", resource: "pods"}},
		{"no watch", "GET", "/api/v1/pods?watch=False",
			request{isResource: true, verb: "list", version: "v1", resource: "pods"}},
		{"old watch", "GET", "/api/v1/watch/namespaces/ns/pods/a",
			request{isResource: true, verb: "watch", version: "v1", namespace: "ns", resource: "pods", name: "a", legacyWatch: true}},
		{"collection deleted", "DELETE", "/api/v1/namespaces/ns/pods",
			request{isResource: true, verb: "deletecollection", version: "v1", namespace: "ns", resource: "pods"}},
		{"patch", "PATCH", "/api/v1/namespaces/ns/pods/a",
			request{isResource: true, verb: "patch", version: "v1", namespace: "ns", resource: "pods", name: "a"}},
		{"discovery of a version", "GET", "/apis/apps/v1", request{verb: "get", group: "apps", version: "v1"}},
		{"discovery of a group", "GET", "/apis/apps", request{verb: "get", group: "apps"}},
		{"no API", "GET", "/healthz", request{verb: "get"}},
		{"another method", "PROPFIND", "/api/v1/nodes", request{isResource: true, version: "v1", resource: "nodes"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := request{http: httptest.NewRequest(row.method, row.path, nil)}
			r.parse()
			got := request{
				isResource: r.isResource, verb: r.verb, group: r.group, version: r.version, namespace: r.namespace,
				resource: r.resource, name: r.name, subresource: r.subresource, more: r.more, legacyWatch: r.legacyWatch,
			}
			assert.Equal(t, row.want, got)
		})
	}
}

func TestQuoteWarning(t *testing.T) {
	assert.Equal(t, `"unknown field \"spec.a\\b\""`, quoteWarning("unknown field \"spec.a\\b\"\n"))
}

func TestManagerOf(t *testing.T) {
	for agent, want := range map[string]string{
		"kubectl/v1.36.3 (linux/amd64)": "kubectl",
		"no slash":                      "no slash",
		"/lead":                         "",
		"tab\tbed/1":                    "tabbed",
	} {
		assert.Equal(t, want, managerOf(agent))
	}
	assert.Len(t, managerOf(strings.Repeat("é", 100)), maxManager)
}

func TestPanicsStayInside(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.served.Store(&served{}) // without a registry: a bug that every resource request hits

	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/nodes", nil))
	assert.Equal(t, http.StatusInternalServerError, w.Code)
	assert.Contains(t, w.Body.String(), `"kind":"Status"`)
	assert.NotEmpty(t, s.Requests()[0].Panic, "the log has the trace")
}
