package route_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/route"
)

func TestParse(t *testing.T) {
	pods := route.Route{IsResource: true, Version: "v1", Namespace: "ns", InNamespace: true, Resource: "pods"}
	with := func(r route.Route, change func(*route.Route)) route.Route {
		change(&r)
		return r
	}
	for _, row := range []struct {
		name, method, path string
		want               route.Route
	}{
		{"collection", "GET", "/api/v1/namespaces/ns/pods", with(pods, func(r *route.Route) { r.Verb = "list" })},
		{"collection with a slash", "GET", "/api/v1/namespaces/ns/pods/", with(pods, func(r *route.Route) { r.Verb = "list" })},
		{"all namespaces", "GET", "/apis/apps/v1/deployments",
			route.Route{IsResource: true, Verb: "list", Group: "apps", Version: "v1", Resource: "deployments"}},
		{"empty namespace", "GET", "/api/v1/namespaces//pods",
			route.Route{IsResource: true, Verb: "list", Version: "v1", InNamespace: true, Resource: "pods"}},
		{"status of an empty namespace", "PUT", "/api/v1/namespaces//status",
			route.Route{IsResource: true, Verb: "update", Version: "v1", Resource: "namespaces", Subresource: "status"}},
		{"namespaces in a namespace", "GET", "/api/v1/namespaces/ns/namespaces",
			route.Route{IsResource: true, Verb: "list", Version: "v1", Namespace: "ns", InNamespace: true, Resource: "namespaces"}},
		{"object", "GET", "/api/v1/namespaces/ns/pods/a",
			with(pods, func(r *route.Route) { r.Verb, r.Name = "get", "a" })},
		{"object, its header alone", "HEAD", "/api/v1/namespaces/ns/pods/a",
			with(pods, func(r *route.Route) { r.Verb, r.Name = "get", "a" })},
		{"object, watched", "GET", "/api/v1/namespaces/ns/pods/a?watch=1",
			with(pods, func(r *route.Route) { r.Verb, r.Name = "get", "a" })},
		{"subresource", "PUT", "/apis/apps/v1/namespaces/ns/deployments/d/scale",
			route.Route{IsResource: true, Verb: "update", Group: "apps", Version: "v1", Namespace: "ns", InNamespace: true, Resource: "deployments", Name: "d", Subresource: "scale"}},
		{"below a subresource", "GET", "/api/v1/namespaces/ns/pods/a/proxy/x/y",
			with(pods, func(r *route.Route) { r.Verb, r.Name, r.Subresource, r.Rest = "get", "a", "proxy", "x/y" })},
		{"cluster scope", "DELETE", "/api/v1/nodes/n",
			route.Route{IsResource: true, Verb: "delete", Version: "v1", Resource: "nodes", Name: "n"}},
		{"namespaces", "POST", "/api/v1/namespaces",
			route.Route{IsResource: true, Verb: "create", Version: "v1", Resource: "namespaces"}},
		{"namespace", "GET", "/api/v1/namespaces/ns",
			route.Route{IsResource: true, Verb: "get", Version: "v1", Namespace: "ns", Resource: "namespaces", Name: "ns"}},
		{"namespace's finalizers", "PUT", "/api/v1/namespaces/ns/finalize",
			route.Route{IsResource: true, Verb: "update", Version: "v1", Namespace: "ns", Resource: "namespaces", Name: "ns", Subresource: "finalize"}},
		{"watch", "GET", "/api/v1/namespaces/ns/pods?watch=true", with(pods, func(r *route.Route) { r.Verb = "watch" })},
		{"watch without a value", "GET", "/api/v1/namespaces/ns/pods?limit=1&watch", with(pods, func(r *route.Route) { r.Verb = "watch" })},
		{"watch in escapes", "GET", "/api/v1/namespaces/ns/pods?w%61tch=1", with(pods, func(r *route.Route) { r.Verb = "watch" })},
		{"no watch", "GET", "/api/v1/namespaces/ns/pods?watch=F%61lse", with(pods, func(r *route.Route) { r.Verb = "list" })},
		{"no watch, then one", "GET", "/api/v1/namespaces/ns/pods?watch=0&watch=1", with(pods, func(r *route.Route) { r.Verb = "list" })},
		{"broken watch, then one", "GET", "/api/v1/namespaces/ns/pods?watch=%zz&watch=1", with(pods, func(r *route.Route) { r.Verb = "watch" })},
		{"old watch", "GET", "/api/v1/watch/namespaces/ns/pods/a",
			with(pods, func(r *route.Route) { r.Verb, r.Name, r.LegacyWatch = "watch", "a", true })},
		{"old watch by another method", "POST", "/api/v1/watch/pods", route.Route{IsResource: true, Verb: "watch", Version: "v1", Resource: "pods", LegacyWatch: true}},
		{"old watch of nothing", "GET", "/api/v1/watch/", route.Route{IsResource: true, Verb: "get", Version: "v1", Malformed: true}},
		{"old proxy", "GET", "/api/v1/proxy/namespaces/ns/pods/a/x/y", with(pods, func(r *route.Route) { r.Verb, r.Name = "proxy", "a" })},
		{"slashes at the end", "GET", "/api/v1/namespaces/ns/pods//", with(pods, func(r *route.Route) { r.Verb = "list" })},
		{"no group", "GET", "/apis//v1/pods", route.Route{IsResource: true, Verb: "list", Version: "v1", Resource: "pods"}},
		{"collection deleted", "DELETE", "/api/v1/namespaces/ns/pods", with(pods, func(r *route.Route) { r.Verb = "deletecollection" })},
		{"patch", "PATCH", "/api/v1/namespaces/ns/pods/a", with(pods, func(r *route.Route) { r.Verb, r.Name = "patch", "a" })},
		{"discovery of a version", "GET", "/apis/apps/v1", route.Route{Verb: "get", Group: "apps", Version: "v1"}},
		{"discovery of a group", "GET", "/apis/apps", route.Route{Verb: "get", Group: "apps"}},
		{"no API", "GET", "/healthz", route.Route{Verb: "get"}},
		{"another method", "PROPFIND", "/api/v1/nodes", route.Route{IsResource: true, Version: "v1", Resource: "nodes"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			u, err := url.Parse(row.path)
			require.NoError(t, err)
			row.want.Path = u.Path
			assert.Equal(t, row.want, route.Parse(row.method, u))
		})
	}
}

// FuzzParse checks that Parse accepts any URL and finds a watch exactly where
// net/url finds the parameter.
func FuzzParse(f *testing.F) {
	f.Add("/api/v1/namespaces/ns/pods", "watch=true")
	f.Add("/api/v1/watch/namespaces//", "watch;=1&watch=%zz&watch=0")
	f.Add("/apis///namespaces/status", "a=b&w%61tch")
	f.Fuzz(func(t *testing.T, path, query string) {
		r := route.Parse("GET", &url.URL{Path: path, RawQuery: query})
		if !r.IsResource || r.Name != "" || r.LegacyWatch || r.Malformed || r.Verb == "proxy" {
			return
		}
		parsed, _ := url.ParseQuery(query)
		want := "list"
		if values := parsed["watch"]; len(values) > 0 && route.ParseBool(values[0]) {
			want = "watch"
		}
		assert.Equal(t, want, r.Verb, "%s?%s", path, query)
		assert.True(t, strings.HasPrefix(path, "/api"), path)
	})
}

func ExampleParse() {
	u, _ := url.Parse("https://127.0.0.1:6443/apis/apps/v1/namespaces/shop/deployments?watch=1")
	r := route.Parse("GET", u)
	fmt.Println(r.Verb, r.Resource, "of group", r.Group, "in", r.Namespace)
	// Output: watch deployments of group apps in shop
}

func TestIsLongRunning(t *testing.T) {
	for _, row := range []struct {
		name, method, path string
		want               bool
	}{
		{"list", "GET", "/api/v1/pods", false},
		{"watch", "GET", "/api/v1/pods?watch=1", true},
		{"object", "GET", "/api/v1/namespaces/ns/pods/a", false},
		{"log", "GET", "/api/v1/namespaces/ns/pods/a/log", true},
		{"exec", "POST", "/api/v1/namespaces/ns/pods/a/exec", true},
		{"proxy", "GET", "/api/v1/namespaces/ns/services/a/proxy/x", true},
		{"old proxy", "GET", "/api/v1/proxy/namespaces/ns/pods/a", true},
		{"status", "PUT", "/api/v1/namespaces/ns/pods/a/status", false},
		{"outside of resources", "GET", "/version", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			u, err := url.Parse(row.path)
			require.NoError(t, err)
			r := route.Parse(row.method, u)
			assert.Equal(t, row.want, r.IsLongRunning())
		})
	}
}

func TestVersionPath(t *testing.T) {
	assert.Equal(t, "/api/v1", route.VersionPath("v1"))
	assert.Equal(t, "/apis/apps/v1", route.VersionPath("apps/v1"))
}
