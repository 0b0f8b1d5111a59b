package fault

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/route"
)

func TestGlob(t *testing.T) {
	for _, row := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true},
		{"", "a", false},
		{"a", "a", true},
		{"a", "ab", false},
		{"*", "", true},
		{"*", "a/b", true},
		{"a*", "a", true},
		{"a*", "ba", false},
		{"*a", "ba", true},
		{"*a", "ab", false},
		{"a*a", "a", false},
		{"a*a", "aa", true},
		{"a*b*c", "aXbXbXc", true},
		{"a*b*c", "aXcXb", false},
		{"*ab", "aab", true},
		{"*a*", "bab", true},
		{"**", "", true},
	} {
		assert.Equal(t, row.want, glob(row.pattern, row.s), "%q of %q", row.pattern, row.s)
	}
}

// FuzzGlob compares patterns with regular expressions.
func FuzzGlob(f *testing.F) {
	f.Add("a*b", "aXb")
	f.Add("**a*", "ba\n")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		parts := strings.Split(pattern, "*")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		want, err := regexp.Compile(`(?s)\A` + strings.Join(parts, ".*") + `\z`)
		if err != nil {
			return // not of this alphabet
		}
		assert.Equal(t, want.MatchString(s), glob(pattern, s), "%q of %q", pattern, s)
	})
}

// requestOf is the request of a method and a URL.
func requestOf(method, url string) *Request {
	r := httptest.NewRequest(method, url, nil)
	r.Header.Set("User-Agent", "controller/v1 (linux/amd64)")
	return &Request{r, route.Parse(r.Method, r.URL)}
}

func TestMatcher(t *testing.T) {
	const (
		pod        = "/api/v1/namespaces/shop/pods/web-0"
		podStatus  = pod + "/status"
		deployment = "/apis/apps/v1/namespaces/shop/deployments/web"
		nodes      = "/api/v1/nodes"
	)
	for _, row := range []struct {
		name        string
		fault       Fault
		method, url string
		want        bool
	}{
		{"everything", Fault{}, "GET", pod, true},
		{"everything, discovery too", Fault{}, "GET", "/apis", true},
		{"a verb", Fault{Verb: "get"}, "GET", pod, true},
		{"another verb", Fault{Verb: "list"}, "GET", pod, false},
		{"several verbs", Fault{Verb: "create, update"}, "PUT", pod, true},
		{"all deletions", Fault{Verb: "delete*"}, "DELETE", nodes, true},
		{"a resource", Fault{Resource: "pods"}, "GET", pod, true},
		{"a resource, but a subresource is asked for", Fault{Resource: "pods"}, "GET", podStatus, false},
		{"a subresource", Fault{Resource: "pods/status"}, "GET", podStatus, true},
		{"another subresource", Fault{Resource: "pods/log"}, "GET", podStatus, false},
		{"every subresource", Fault{Resource: "pods/*"}, "GET", podStatus, true},
		{"every subresource, but none is asked for", Fault{Resource: "pods/*"}, "GET", pod, false},
		{"a subresource of every resource", Fault{Resource: "*/status"}, "GET", podStatus, true},
		{"every resource", Fault{Resource: "*"}, "GET", podStatus, true},
		{"every resource is not discovery", Fault{Resource: "*"}, "GET", "/apis", false},
		{"several resources", Fault{Resource: "nodes,pods"}, "GET", pod, true},
		{"a resource of any group", Fault{Resource: "deployments"}, "GET", deployment, true},
		{"a resource of its group", Fault{Resource: "deployments.apps"}, "GET", deployment, true},
		{"a resource of another group", Fault{Resource: "deployments.extensions"}, "GET", deployment, false},
		{"all resources of a group", Fault{Resource: "*.apps"}, "GET", deployment, true},
		{"a namespace", Fault{Namespace: "shop"}, "GET", pod, true},
		{"another namespace", Fault{Namespace: "kube-*"}, "GET", pod, false},
		{"a namespace, at cluster scope", Fault{Namespace: "shop"}, "GET", nodes, false},
		{"a name", Fault{Name: "web-*"}, "GET", pod, true},
		{"another name", Fault{Name: "db-*"}, "GET", pod, false},
		{"a user agent", Fault{UserAgent: "controller/*"}, "GET", pod, true},
		{"another user agent", Fault{UserAgent: "kubectl/*"}, "GET", pod, false},
		{"a path", Fault{Path: "/apis*"}, "GET", "/apis/apps/v1", true},
		{"another path", Fault{Path: "/apis*"}, "GET", pod, false},
		{"a predicate", Fault{Matches: func(r *http.Request) bool { return r.Method == "GET" }}, "GET", pod, true},
		{"a predicate that refuses", Fault{Matches: func(r *http.Request) bool { return r.Method == "PUT" }}, "GET", pod, false},
		{"webhooks", Fault{Webhook: "*"}, "GET", pod, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, newMatcher(&row.fault).request(requestOf(row.method, row.url)))
		})
	}
}

func TestMatcherOfCalls(t *testing.T) {
	for _, row := range []struct {
		name  string
		fault Fault
		want  bool
	}{
		{"all", Fault{Webhook: "*"}, true},
		{"a service", Fault{Webhook: "https://admit.shop.svc*"}, true},
		{"a path", Fault{Webhook: "*/validate"}, true},
		{"another path", Fault{Webhook: "*/mutate"}, false},
		{"a predicate that refuses", Fault{Webhook: "*", Matches: func(*http.Request) bool { return false }}, false},
		{"requests", Fault{}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := httptest.NewRequest("POST", "https://admit.shop.svc:443/validate?timeout=10s", nil)
			assert.Equal(t, row.want, newMatcher(&row.fault).call(r))
		})
	}
}
