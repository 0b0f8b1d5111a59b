//go:build go1.25

package usage_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/usage"
)

// widgets defines the custom resource that the operators of the tests have.
const widgets = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.shop.example.com},
 spec: {group: shop.example.com, scope: Namespaced, names: {plural: widgets, kind: Widget},
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`

// A client makes requests.
type client struct {
	t     *testing.T
	http  *http.Client
	url   string
	agent string
	token string // of the user; "" for an administrator
	as    string // the user to impersonate
}

func newClient(t *testing.T, srv *fakeapi.Server) *client {
	return &client{t: t, http: srv.Client(), url: srv.URL, agent: "manager/v1"}
}

// do makes a request, as in "PATCH /api/v1/namespaces/default/configmaps/a {}", and returns the
// status code and the body. A PATCH is a merge patch, and an APPLY a server-side apply.
func (c *client) do(request string) (code int, body string) {
	method, rest, _ := strings.Cut(request, " ")
	uri, text, _ := strings.Cut(rest, " ")
	contentType := "application/yaml"
	switch method {
	case "PATCH":
		contentType = "application/merge-patch+json"
	case "APPLY":
		method, contentType = http.MethodPatch, "application/apply-patch+yaml"
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url+uri, strings.NewReader(text))
	require.NoError(c.t, err)
	r.Header.Set("User-Agent", c.agent)
	r.Header.Set("Content-Type", contentType)
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.as != "" {
		r.Header.Set("Impersonate-User", c.as)
	}
	answer, err := c.http.Do(r)
	require.NoError(c.t, err)
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	require.NoError(c.t, err)
	return answer.StatusCode, string(read)
}

// watch begins a watch, which ends with the test.
func (c *client) watch(uri string) {
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.url+uri+"?watch=true&allowWatchBookmarks=true", http.NoBody)
	require.NoError(c.t, err)
	r.Header.Set("User-Agent", c.agent)
	answer, err := c.http.Do(r)
	require.NoError(c.t, err)
	c.t.Cleanup(func() { answer.Body.Close() })
	require.Equal(c.t, http.StatusOK, answer.StatusCode)
}

var (
	versionPattern  = regexp.MustCompile(`"resourceVersion":"(\d+)"`)
	revisionPattern = regexp.MustCompile(`\br\d+\b`)
)

// all makes requests, one a line, and fails for those with another status than 2xx. RV in a request
// is the resourceVersion in the answer to the one before.
func (c *client) all(requests string) {
	c.t.Helper()
	version := ""
	for request := range strings.SplitSeq(requests, "\n") {
		if request = strings.ReplaceAll(strings.TrimSpace(request), "RV", version); request == "" {
			continue
		}
		code, body := c.do(request)
		require.Less(c.t, code, 300, "%s: %s", request, body)
		if m := versionPattern.FindStringSubmatch(body); m != nil {
			version = m[1]
		}
	}
}

// start starts a server with a Widget that a test has created, and counts the requests from then
// on.
func start(t *testing.T, options ...fakeapi.Option) *fakeapi.Server {
	t.Helper()
	srv := fakeapi.Start(t, append([]fakeapi.Option{
		fakeapi.WithInMemory(), fakeapi.WithNamespaces("operator-system", "shop", "stage"),
		fakeapi.WithObjects(widgets, `{apiVersion: shop.example.com/v1, kind: Widget, metadata: {name: web, namespace: shop}}`),
	}, options...)...)
	usage.Start(srv)
	return srv
}

const watchWidgets = `GET /apis/shop.example.com/v1/widgets
GET /apis/shop.example.com/v1/widgets?watch=true&timeoutSeconds=-1
`

func TestRoles(t *testing.T) {
	for _, tt := range []struct {
		name     string
		requests string
		want     string
	}{
		{"an operator of all namespaces, with the election of a leader", watchWidgets + `
			PATCH /apis/shop.example.com/v1/namespaces/shop/widgets/web/status {"status": {"ready": true}}
			POST /api/v1/namespaces/shop/configmaps {metadata: {name: web-config}}
			PUT /api/v1/namespaces/shop/configmaps/web-config {metadata: {name: web-config}, data: {a: b}}
			POST /apis/coordination.k8s.io/v1/namespaces/operator-system/leases {metadata: {name: manager-leader}}
			PUT /apis/coordination.k8s.io/v1/namespaces/operator-system/leases/manager-leader {metadata: {name: manager-leader, resourceVersion: "RV"}}
			POST /api/v1/namespaces/shop/events {metadata: {name: web.1}, involvedObject: {namespace: shop}}
			GET /version
			GET /apis
			GET /metrics`,
			`ClusterRole: create update configmaps
ClusterRole: create events
ClusterRole: list watch widgets.shop.example.com
ClusterRole: patch widgets/status.shop.example.com
ClusterRole: get /metrics
Role operator-system: create leases.coordination.k8s.io
Role operator-system: update leases.coordination.k8s.io manager-leader`},
		{"an operator of one namespace", `GET /apis/shop.example.com/v1/namespaces/shop/widgets
			GET /apis/shop.example.com/v1/namespaces/shop/widgets/web
			GET /api/v1/namespaces/shop/secrets?fieldSelector=metadata.name%3Dtls&watch=true&timeoutSeconds=-1
			DELETE /api/v1/namespaces/shop/configmaps`,
			`Role shop: deletecollection configmaps
Role shop: watch secrets tls
Role shop: get list widgets.shop.example.com`},
		{"an informer that streams its list", `GET /api/v1/secrets?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=-1
			GET /api/v1/configmaps?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=-1`,
			`ClusterRole: watch configmaps
ClusterRole: list watch secrets`},
		{"an apply creates", `APPLY /api/v1/namespaces/stage/configmaps/a?fieldManager=m {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`,
			`Role stage: create patch configmaps a`},
		{"an owner that is blocked", watchWidgets + `
			POST /api/v1/namespaces/shop/configmaps {metadata: {name: a, ownerReferences: [{apiVersion: shop.example.com/v1, kind: Widget, name: web, uid: u, controller: true, blockOwnerDeletion: true}]}}`,
			`ClusterRole: create configmaps
ClusterRole: list watch widgets.shop.example.com
ClusterRole: update widgets/finalizers.shop.example.com`},
		{"a role grants, and a binding", `
			POST /apis/rbac.authorization.k8s.io/v1/namespaces/stage/roles {metadata: {name: r}, rules: [{apiGroups: [""], resources: [secrets], verbs: [get], resourceNames: [x]}]}
			POST /apis/rbac.authorization.k8s.io/v1/namespaces/stage/rolebindings {metadata: {name: b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}, subjects: []}`,
			`Role stage: get secrets x
Role stage: create rolebindings roles.rbac.authorization.k8s.io`},
		{"a policy with parameters, and its binding", `
			POST /apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies {metadata: {name: p}, spec: {paramKind: {apiVersion: v1, kind: ConfigMap}, validations: [{expression: 'true'}], matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}}}
			POST /apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings {metadata: {name: b}, spec: {policyName: p, validationActions: [Deny], paramRef: {name: limits, namespace: stage, parameterNotFoundAction: Deny}}}`,
			`ClusterRole: get configmaps
ClusterRole: create validatingadmissionpolicies validatingadmissionpolicybindings.admissionregistration.k8s.io`},
		{"a token and an eviction", `POST /api/v1/namespaces/stage/serviceaccounts {metadata: {name: bot}}
			POST /api/v1/namespaces/stage/serviceaccounts/bot/token {}`,
			`Role stage: create serviceaccounts
Role stage: create serviceaccounts/token bot`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := start(t)
			newClient(t, srv).all(tt.requests)
			roles := usage.Of(srv).Of(usage.Client{UserAgent: "manager/*"}).Roles("manager")
			assert.Equal(t, tt.want, brief(roles))

			var documents strings.Builder
			require.NoError(t, usage.WriteRoles(&documents, roles))
			for _, r := range roles {
				fmt.Fprintf(&documents, "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: %sBinding, metadata: {name: manager, namespace: %q},"+
					" roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %[1]s, name: manager}, subjects: [{kind: User, name: manager}]}\n", r.Kind(), r.Namespace)
			}
			again := newClient(t, start(t, fakeapi.WithRBAC(), fakeapi.WithToken("secret", fakeapi.User{Name: "manager", Groups: []string{"system:authenticated"}}),
				fakeapi.WithAPIServer(apiserver.Config{EnableAdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"}}), fakeapi.WithObjects(documents.String())))
			again.token = "secret"
			again.all(tt.requests) // with these roles only
		})
	}
}

// brief returns a line for each rule of roles.
func brief(roles []usage.Role) string {
	var lines []string
	for _, role := range roles {
		for _, r := range role.Rules {
			line := strings.TrimSpace(role.Kind()+" "+role.Namespace) + ": " + strings.Join(r.Verbs, " ")
			for _, resource := range r.Resources {
				line += " " + resource
			}
			if len(r.APIGroups) > 0 && r.APIGroups[0] != "" {
				line += "." + r.APIGroups[0]
			}
			lines = append(lines, strings.TrimSpace(line+" "+strings.Join(append(r.ResourceNames, r.NonResourceURLs...), " ")))
		}
	}
	return strings.Join(lines, "\n")
}
