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
		assert.Equal(t, row.want, Glob(row.pattern, row.s), "%q of %q", row.pattern, row.s)
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
			return // invalid UTF-8
		}
		assert.Equal(t, want.MatchString(s), Glob(pattern, s), "%q of %q", pattern, s)
	})
}

// requestOf returns a request with a method and a URL.
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
		{"empty fault", Fault{}, "GET", pod, true},
		{"empty fault and discovery", Fault{}, "GET", "/apis", true},
		{"verb", Fault{Verb: "get"}, "GET", pod, true},
		{"another verb", Fault{Verb: "list"}, "GET", pod, false},
		{"several verbs", Fault{Verb: "create, update"}, "PUT", pod, true},
		{"verb pattern", Fault{Verb: "delete*"}, "DELETE", nodes, true},
		{"resource", Fault{Resource: "pods"}, "GET", pod, true},
		{"resource does not match its subresource", Fault{Resource: "pods"}, "GET", podStatus, false},
		{"subresource", Fault{Resource: "pods/status"}, "GET", podStatus, true},
		{"another subresource", Fault{Resource: "pods/log"}, "GET", podStatus, false},
		{"every subresource", Fault{Resource: "pods/*"}, "GET", podStatus, true},
		{"every subresource does not match the resource", Fault{Resource: "pods/*"}, "GET", pod, false},
		{"subresource of every resource", Fault{Resource: "*/status"}, "GET", podStatus, true},
		{"every resource", Fault{Resource: "*"}, "GET", podStatus, true},
		{"every resource does not match discovery", Fault{Resource: "*"}, "GET", "/apis", false},
		{"several resources", Fault{Resource: "nodes,pods"}, "GET", pod, true},
		{"resource without a group", Fault{Resource: "deployments"}, "GET", deployment, true},
		{"resource with its group", Fault{Resource: "deployments.apps"}, "GET", deployment, true},
		{"resource with another group", Fault{Resource: "deployments.extensions"}, "GET", deployment, false},
		{"resource of the core group", Fault{Resource: "pods."}, "GET", pod, true},
		{"resource of the core group, with another group", Fault{Resource: "deployments."}, "GET", deployment, false},
		{"all resources of a group", Fault{Resource: "*.apps"}, "GET", deployment, true},
		{"namespace", Fault{Namespace: "shop"}, "GET", pod, true},
		{"another namespace", Fault{Namespace: "kube-*"}, "GET", pod, false},
		{"namespace at cluster scope", Fault{Namespace: "shop"}, "GET", nodes, false},
		{"name", Fault{Name: "web-*"}, "GET", pod, true},
		{"another name", Fault{Name: "db-*"}, "GET", pod, false},
		{"user agent", Fault{UserAgent: "controller/*"}, "GET", pod, true},
		{"another user agent", Fault{UserAgent: "kubectl/*"}, "GET", pod, false},
		{"path", Fault{Path: "/apis*"}, "GET", "/apis/apps/v1", true},
		{"another path", Fault{Path: "/apis*"}, "GET", pod, false},
		{"predicate", Fault{Matches: func(r *http.Request) bool { return r.Method == "GET" }}, "GET", pod, true},
		{"predicate that returns false", Fault{Matches: func(r *http.Request) bool { return r.Method == "PUT" }}, "GET", pod, false},
		{"webhook fault", Fault{Webhook: "*"}, "GET", pod, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, newMatcher(&row.fault).request(requestOf(row.method, row.url)))
		})
	}
}

func TestWebhookMatcher(t *testing.T) {
	for _, row := range []struct {
		name  string
		fault Fault
		want  bool
	}{
		{"all", Fault{Webhook: "*"}, true},
		{"service", Fault{Webhook: "https://admit.shop.svc*"}, true},
		{"path", Fault{Webhook: "*/validate"}, true},
		{"another path", Fault{Webhook: "*/mutate"}, false},
		{"predicate that returns false", Fault{Webhook: "*", Matches: func(*http.Request) bool { return false }}, false},
		{"fault of requests", Fault{}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := httptest.NewRequest("POST", "https://admit.shop.svc:443/validate?timeout=10s", nil)
			assert.Equal(t, row.want, newMatcher(&row.fault).call(r))
		})
	}
}
