package fault

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/route"
)

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
		fault       faults.Fault
		method, url string
		want        bool
	}{
		{"empty fault", faults.Fault{}, "GET", pod, true},
		{"empty fault and discovery", faults.Fault{}, "GET", "/apis", true},
		{"verb", faults.Fault{Verb: "get"}, "GET", pod, true},
		{"another verb", faults.Fault{Verb: "list"}, "GET", pod, false},
		{"several verbs", faults.Fault{Verb: "create, update"}, "PUT", pod, true},
		{"verb pattern", faults.Fault{Verb: "delete*"}, "DELETE", nodes, true},
		{"resource", faults.Fault{Resource: "pods"}, "GET", pod, true},
		{"resource does not match its subresource", faults.Fault{Resource: "pods"}, "GET", podStatus, false},
		{"subresource", faults.Fault{Resource: "pods/status"}, "GET", podStatus, true},
		{"another subresource", faults.Fault{Resource: "pods/log"}, "GET", podStatus, false},
		{"every subresource", faults.Fault{Resource: "pods/*"}, "GET", podStatus, true},
		{"every subresource does not match the resource", faults.Fault{Resource: "pods/*"}, "GET", pod, false},
		{"subresource of every resource", faults.Fault{Resource: "*/status"}, "GET", podStatus, true},
		{"every resource", faults.Fault{Resource: "*"}, "GET", podStatus, true},
		{"every resource does not match discovery", faults.Fault{Resource: "*"}, "GET", "/apis", false},
		{"several resources", faults.Fault{Resource: "nodes,pods"}, "GET", pod, true},
		{"resource without a group", faults.Fault{Resource: "deployments"}, "GET", deployment, true},
		{"resource with its group", faults.Fault{Resource: "deployments.apps"}, "GET", deployment, true},
		{"resource with another group", faults.Fault{Resource: "deployments.extensions"}, "GET", deployment, false},
		{"resource of the core group", faults.Fault{Resource: "pods."}, "GET", pod, true},
		{"resource of the core group, with another group", faults.Fault{Resource: "deployments."}, "GET", deployment, false},
		{"all resources of a group", faults.Fault{Resource: "*.apps"}, "GET", deployment, true},
		{"namespace", faults.Fault{Namespace: "shop"}, "GET", pod, true},
		{"another namespace", faults.Fault{Namespace: "kube-*"}, "GET", pod, false},
		{"namespace at cluster scope", faults.Fault{Namespace: "shop"}, "GET", nodes, false},
		{"name", faults.Fault{Name: "web-*"}, "GET", pod, true},
		{"another name", faults.Fault{Name: "db-*"}, "GET", pod, false},
		{"user agent", faults.Fault{UserAgent: "controller/*"}, "GET", pod, true},
		{"another user agent", faults.Fault{UserAgent: "kubectl/*"}, "GET", pod, false},
		{"path", faults.Fault{Path: "/apis*"}, "GET", "/apis/apps/v1", true},
		{"another path", faults.Fault{Path: "/apis*"}, "GET", pod, false},
		{"predicate", faults.Fault{Matches: func(r *http.Request) bool { return r.Method == "GET" }}, "GET", pod, true},
		{"predicate that returns false", faults.Fault{Matches: func(r *http.Request) bool { return r.Method == "PUT" }}, "GET", pod, false},
		{"webhook fault", faults.Fault{Webhook: "*"}, "GET", pod, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, newMatcher(&row.fault).request(requestOf(row.method, row.url)))
		})
	}
}

func TestWebhookMatcher(t *testing.T) {
	for _, row := range []struct {
		name  string
		fault faults.Fault
		want  bool
	}{
		{"all", faults.Fault{Webhook: "*"}, true},
		{"service", faults.Fault{Webhook: "https://admit.shop.svc*"}, true},
		{"path", faults.Fault{Webhook: "*/validate"}, true},
		{"another path", faults.Fault{Webhook: "*/mutate"}, false},
		{"predicate that returns false", faults.Fault{Webhook: "*", Matches: func(*http.Request) bool { return false }}, false},
		{"fault of requests", faults.Fault{}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := httptest.NewRequest("POST", "https://admit.shop.svc:443/validate?timeout=10s", nil)
			assert.Equal(t, row.want, newMatcher(&row.fault).call(r))
		})
	}
}
