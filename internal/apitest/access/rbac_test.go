package access_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

const robot = `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"robot","namespace":"default"}}`

func TestRolesTakeEffectAtOnce(t *testing.T) {
	srv := apitest.StartRBAC(t, apitest.ReaderRole)
	pods := "/api/v1/namespaces/default/pods"
	list := func(srv *fakeapi.Server) int {
		code, _ := apitest.DoWithHeaders(t, srv, "GET", pods, "", apitest.AsAlice...)
		return code
	}
	assert.Equal(t, 403, list(srv), "no role is bound")
	before := srv.Fork(t)
	_, err := srv.Store(apitest.ReaderBinding)
	require.NoError(t, err)
	assert.Equal(t, 200, list(srv), "the role is bound")
	assert.Equal(t, 403, list(before), "a fork has its own bindings")
	assert.Equal(t, 200, list(srv.Fork(t)))

	require.NoError(t, srv.Remove("roles", "default", "r"))
	code, answer := apitest.DoWithHeaders(t, srv, "GET", pods, "", apitest.AsAlice...)
	assert.Equal(t, 403, code)
	assert.Equal(t, `pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "default": rbac: RBAC: role.rbac.authorization.k8s.io "r" not found`, answer["message"])

	require.NoError(t, srv.Reset())
	assert.Equal(t, 403, list(srv))
}

func TestForbiddenMessages(t *testing.T) {
	srv := apitest.StartRBAC(t)
	for _, tt := range []struct{ name, method, path, want string }{
		{"field selector", "GET", "/api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Dx", `pods "x" is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "default"`},
		{"subresource", "GET", "/api/v1/namespaces/default/pods/x/log", `pods "x" is forbidden: User "alice" cannot get resource "pods/log" in API group "" in the namespace "default"`},
		{"method without a verb", "OPTIONS", "/api/v1/pods", `pods is forbidden: User "alice" cannot  resource "pods" in API group "" at the cluster scope`},
		{"path with HTML", "GET", "/<b>", `forbidden: User "alice" cannot get path "/&lt;b&gt;"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, answer := apitest.DoWithHeaders(t, srv, tt.method, tt.path, "", apitest.AsAlice...)
			assert.Equal(t, 403, code)
			assert.Equal(t, tt.want, answer["message"])
		})
	}
}

func TestSpaceBeforeToken(t *testing.T) {
	srv := apitest.StartRBAC(t)
	req, err := http.NewRequest("GET", srv.URL+"/version", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer  alice-token")
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Equal(t, `299 - "the provided Authorization header contains extra space before the bearer token, and is ignored"`, resp.Header.Get("Warning"))
}

// A PUT that creates an object needs the verb "create" too.
func TestCreateByUpdate(t *testing.T) {
	srv := apitest.StartRBAC(t, strings.ReplaceAll(apitest.ReaderRole, `"pods"],"verbs":["get","list"`, `"endpoints"],"verbs":["update"`), apitest.ReaderBinding)
	code, answer := apitest.DoWithHeaders(t, srv, "PUT", "/api/v1/namespaces/default/endpoints/e", `{"metadata":{"name":"e"}}`, apitest.AsAlice...)
	assert.Equal(t, 403, code)
	assert.Equal(t, `endpoints "e" is forbidden: User "alice" cannot create resource "endpoints" in API group "" in the namespace "default"`, answer["message"])
}

func TestBootstrapRoles(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for resource, want := range map[string]int{"clusterroles": 73, "clusterrolebindings": 54, "roles": 7, "rolebindings": 7} {
		objects, err := srv.List(resource, "")
		require.NoError(t, err)
		assert.Len(t, objects, want, resource)
		for _, o := range objects {
			meta, _ := o["metadata"].(map[string]any)
			assert.Len(t, meta["uid"], 36)
			assert.NotContains(t, meta["creationTimestamp"], "0000")
		}
	}
}

func TestImpersonation(t *testing.T) {
	srv := apitest.StartRBAC(t)
	const self = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	for _, tt := range []struct {
		name    string
		by      []string
		headers []string
		want    any // status.userInfo, or the message of the error
	}{
		{"user", apitest.AsRoot, []string{"Impersonate-User", "bob"}, map[string]any{"username": "bob", "groups": []any{"system:authenticated"}}},
		{"all members", apitest.AsRoot, []string{"Impersonate-User", "bob", "Impersonate-Group", "a", "Impersonate-Group", "b", "Impersonate-Uid", "7", "Impersonate-Extra-Acme.io%2fScope", "x"},
			map[string]any{"username": "bob", "uid": "7", "groups": []any{"a", "b", "system:authenticated"}, "extra": map[string]any{"acme.io/scope": []any{"x"}}}},
		{"service account", apitest.AsRoot, []string{"Impersonate-User", "system:serviceaccount:a:b"}, map[string]any{"username": "system:serviceaccount:a:b", "groups": []any{"system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"}}},
		{"node", apitest.AsRoot, []string{"Impersonate-User", "system:node:n"}, map[string]any{"username": "system:node:n", "groups": []any{"system:nodes", "system:authenticated"}}},
		{"masters", apitest.AsRoot, []string{"Impersonate-User", "bob", "Impersonate-Group", "system:masters"}, map[string]any{"username": "bob", "groups": []any{"system:masters", "system:authenticated"}}},
		{"anonymous", apitest.AsRoot, []string{"Impersonate-User", "system:anonymous"}, `selfsubjectreviews.authentication.k8s.io is forbidden: User "system:anonymous" cannot create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope`},
		{"uid without a user name", apitest.AsRoot, []string{"Impersonate-Uid", "1"}, `requested &user.DefaultInfo{Name:"", UID:"1", Groups:[]string(nil), Extra:map[string][]string(nil)} without impersonating a user name`},
		{"not allowed", apitest.AsAlice, []string{"Impersonate-User", "bob"}, `selfsubjectreviews.authentication.k8s.io is forbidden: User "alice" cannot impersonate-on:user-info:create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope`},
		{"node, not allowed", apitest.AsAlice, []string{"Impersonate-User", "system:node:n"}, `selfsubjectreviews.authentication.k8s.io is forbidden: User "alice" cannot impersonate-on:arbitrary-node:create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, answer := apitest.DoWithHeaders(t, srv, "POST", self, `{}`, append(append([]string{}, tt.by...), tt.headers...)...)
			if message, failed := tt.want.(string); failed {
				assert.Equal(t, message, answer["message"])
				return
			}
			st, _ := answer["status"].(map[string]any)
			assert.Equal(t, tt.want, st["userInfo"])
		})
	}
}

// Impersonation is allowed by the legacy verb "impersonate", or by the two verbs
// of a constrained mode.
func TestImpersonationByRole(t *testing.T) {
	grant := func(name, rules string) []any {
		return []any{
			`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"` + name + `"},"rules":` + rules + `}`,
			`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"` + name + `"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"` + name + `"},"subjects":[{"kind":"User","name":"alice"}]}`,
		}
	}
	for _, tt := range []struct {
		name, rules string
		user        string
		code        int
	}{
		{"legacy", `[{"apiGroups":[""],"resources":["users"],"verbs":["impersonate"]}]`, "bob", 201},
		{"legacy, for users only", `[{"apiGroups":[""],"resources":["users"],"verbs":["impersonate"]}]`, "system:serviceaccount:a:b", 403},
		{"constrained", `[{"apiGroups":["authentication.k8s.io"],"resources":["users"],"verbs":["impersonate:user-info"],"resourceNames":["bob"]},{"apiGroups":["*"],"resources":["*"],"verbs":["impersonate-on:user-info:create"]}]`, "bob", 201},
		{"constrained, another name", `[{"apiGroups":["authentication.k8s.io"],"resources":["users"],"verbs":["impersonate:user-info"],"resourceNames":["bob"]},{"apiGroups":["*"],"resources":["*"],"verbs":["impersonate-on:user-info:create"]}]`, "eve", 403},
		{"constrained, another verb", `[{"apiGroups":["authentication.k8s.io"],"resources":["users"],"verbs":["impersonate:user-info"]},{"apiGroups":["*"],"resources":["*"],"verbs":["impersonate-on:user-info:get"]}]`, "bob", 403},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := apitest.StartRBAC(t, grant("x", tt.rules)...)
			code, _ := apitest.DoWithHeaders(t, srv, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`, append([]string{"Impersonate-User", tt.user}, apitest.AsAlice...)...)
			assert.Equal(t, tt.code, code)
		})
	}
}

// newToken requests a token of the service account robot.
func newToken(t testing.TB, srv *fakeapi.Server, spec string) string {
	t.Helper()
	code, answer := apitest.DoWithHeaders(t, srv, "POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", `{"spec":`+spec+`}`, apitest.AsRoot...)
	require.Equal(t, 201, code, answer)
	st, _ := answer["status"].(map[string]any)
	token, _ := st["token"].(string)
	require.NotEmpty(t, token)
	return token
}

func TestServiceAccountTokens(t *testing.T) {
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default","uid":"pod-uid"},"spec":{"serviceAccountName":"robot","nodeName":"n","containers":[{"name":"c","image":"i"}]}}`
	srv := apitest.StartRBAC(t, robot, pod)
	review := func(srv *fakeapi.Server, token string) map[string]any {
		t.Helper()
		code, answer := apitest.DoWithHeaders(t, srv, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"`+token+`"}}`, apitest.AsRoot...)
		require.Equal(t, 201, code)
		st, _ := answer["status"].(map[string]any)
		return st
	}
	token := newToken(t, srv, `{"expirationSeconds":600,"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}`)
	st := review(srv, token)
	assert.Equal(t, true, st["authenticated"])
	user, _ := st["user"].(map[string]any)
	assert.Equal(t, "system:serviceaccount:default:robot", user["username"])
	extra, _ := user["extra"].(map[string]any)
	assert.Equal(t, []any{"pod-uid"}, extra["authentication.kubernetes.io/pod-uid"])
	assert.Equal(t, []any{"n"}, extra["authentication.kubernetes.io/node-name"])

	code, answer := apitest.DoWithHeaders(t, srv, "GET", "/api/v1/pods", "", "Authorization", "Bearer "+token)
	assert.Equal(t, 403, code)
	assert.Contains(t, answer["message"], `User "system:serviceaccount:default:robot" cannot list`)

	tampered := token[:len(token)-10] + "AAAAAAAAAA"
	assert.Equal(t, map[string]any{"user": map[string]any{}, "error": "[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]"}, review(srv, tampered))
	code, _ = apitest.DoWithHeaders(t, srv, "GET", "/api", "", "Authorization", "Bearer "+tampered)
	assert.Equal(t, 401, code)

	later := srv.Fork(t)
	assert.Equal(t, true, review(later, token)["authenticated"], "a fork accepts the tokens of its parent")
	later.Clock().Advance(12 * time.Minute)
	assert.Equal(t, "[invalid bearer token, service account token has expired]", review(later, token)["error"])

	require.NoError(t, srv.Remove("pods", "default", "p"))
	assert.Equal(t, "[invalid bearer token, service account token has been invalidated]", review(srv, token)["error"])

	other := newToken(t, srv, `{"audiences":["vault"]}`)
	assert.Equal(t, `[invalid bearer token, token audiences ["vault"] is invalid for the target audiences ["https://kubernetes.default.svc.cluster.local"]]`, review(srv, other)["error"])

	unbound := newToken(t, srv, `{}`)
	require.NoError(t, srv.Remove("serviceaccounts", "default", "robot"))
	assert.Equal(t, `[invalid bearer token, serviceaccounts "robot" not found]`, review(srv, unbound)["error"])
	assert.Equal(t, "invalid bearer token", review(srv, "a.b.c")["error"])
}

// A server without static tokens accepts the tokens of service accounts too.
func TestServiceAccountTokenWithoutStaticTokens(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(robot))
	token := newToken(t, srv, `{}`)
	for auth, want := range map[string]string{
		"Bearer " + token: "system:serviceaccount:default:robot",
		"Bearer x":        "admin",
		"":                "admin",
	} {
		_, answer := apitest.DoWithHeaders(t, srv, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`, "Authorization", auth)
		st, _ := answer["status"].(map[string]any)
		user, _ := st["userInfo"].(map[string]any)
		assert.Equal(t, want, user["username"], auth)
	}
}

func TestTokenRequestErrors(t *testing.T) {
	srv := apitest.StartRBAC(t, robot, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},"spec":{"serviceAccountName":"other","containers":[{"name":"c","image":"i"}]}}`)
	for _, tt := range []struct {
		name, body string
		code       int
		want       string
	}{
		{"too short", `{"spec":{"expirationSeconds":599}}`, 422, "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes"},
		{"too long", `{"spec":{"expirationSeconds":4294967297}}`, 422, "spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds"},
		{"other name", `{"metadata":{"name":"x"}}`, 422, `metadata.name: Invalid value: "x": must match the service account name if specified`},
		{"other uid", `{"metadata":{"uid":"x"}}`, 409, "the UID in the token request (x) does not match the UID of the service account"},
		{"bound to another kind", `{"spec":{"boundObjectRef":{"kind":"Foo","apiVersion":"a/b"}}}`, 400, "cannot bind token to object of type a/b, Kind=Foo"},
		{"bound to no name", `{"spec":{"boundObjectRef":{"kind":"Node","apiVersion":"v1"}}}`, 400, "Name parameter required."},
		{"bound to a missing object", `{"spec":{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s"}}}`, 404, `secrets "s" not found`},
		{"bound to the pod of another account", `{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}}`, 400, `cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, answer := apitest.DoWithHeaders(t, srv, "POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", tt.body, apitest.AsRoot...)
			assert.Equal(t, tt.code, code)
			assert.Contains(t, answer["message"], tt.want)
		})
	}
}

// A token for a webhook is issued if its service account may attest the API group of the reviews.
func TestTokenForWebhook(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRBAC(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"APIServerWebhookAuthenticationToken": true}}),
		fakeapi.WithToken("root-token", fakeapi.User{Name: "root", Groups: []string{"system:masters"}}),
		fakeapi.WithObjects(robot, `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{"name":"w"},"webhooks":[{
			"name":"w.example.com","clientConfig":{"url":"https://example.com/x"},"sideEffects":"None","admissionReviewVersions":["v1"],
			"rules":[{"apiGroups":["apps"],"apiVersions":["*"],"operations":["*"],"resources":["none"]}]}]}`))
	const spec = `{"boundObjectRef":{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","name":"w"},
		"audiences":["https://example.com/x"],"attestations":{"admissionReviewAPIGroups":["apps"]}}`
	code, answer := apitest.DoWithHeaders(t, srv, "POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", `{"spec":`+spec+`}`, apitest.AsRoot...)
	assert.Equal(t, 403, code)
	assert.Equal(t, `admissionReviewAPIGroups.authentication.k8s.io "apps" is forbidden: User "system:serviceaccount:default:robot" cannot attest resource "admissionReviewAPIGroups" in API group "authentication.k8s.io" at the cluster scope`, answer["message"])

	_, err := srv.Store(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"attest"},"rules":[{"apiGroups":["authentication.k8s.io"],"resources":["admissionReviewAPIGroups"],"resourceNames":["apps"],"verbs":["attest"]}]}`)
	require.NoError(t, err)
	_, err = srv.Store(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"attest"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"attest"},"subjects":[{"kind":"ServiceAccount","name":"robot","namespace":"default"}]}`)
	require.NoError(t, err)
	newToken(t, srv, spec)
}

func TestEscalation(t *testing.T) {
	const group = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/"
	editor := strings.Replace(apitest.ReaderRole, `"rules":[`, `"rules":[{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles","rolebindings"],"verbs":["create","update","patch"]},`, 1)
	role := func(name, verbs string) string {
		return `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"` + name + `"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":[` + verbs + `]}]}`
	}
	binding := func(name, role string) string {
		return `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"` + name + `"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"` + role + `"}}`
	}
	const notHeld = " is forbidden: user \"alice\" (groups=[\"devs\" \"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"delete\"]}"
	srv := apitest.StartRBAC(t, editor, apitest.ReaderBinding, binding("other", "other"))
	for _, tt := range []struct {
		name, method, path, body string
		code                     int
		want                     string
	}{
		{"create with held rules", "POST", "roles", role("a", `"get"`), 201, ""},
		{"create with other rules", "POST", "roles", role("b", `"get","delete"`), 403, `roles.rbac.authorization.k8s.io "b"` + notHeld},
		{"update with other rules", "PUT", "roles/a", role("a", `"delete"`), 403, `roles.rbac.authorization.k8s.io "a"` + notHeld},
		{"change of finalizers", "PATCH", "roles/a", `{"metadata":{"finalizers":["a/b"]}}`, 200, ""},
		{"bind a held role", "POST", "rolebindings", binding("a", "a"), 201, ""},
		{"no subjects as an empty list", "PATCH", "rolebindings/other", `{"subjects":[],"metadata":{"finalizers":["a/b"]}}`, 200, ""},
		{"bind a missing role", "POST", "rolebindings", binding("c", "zz"), 404, `rolebindings.rbac.authorization.k8s.io "zz" not found`},
		{"bind a role without a name", "POST", "rolebindings", binding("c", ""), 400, "Name parameter required."},
		{"bind a role with a name that no role has", "POST", "rolebindings", binding("c", "a/b"), 400, `Name parameter invalid: "a/b": may not contain '/'`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, answer := apitest.DoWithHeaders(t, srv, tt.method, group+tt.path, tt.body, apitest.AsAlice...)
			assert.Equal(t, tt.code, code, answer)
			if tt.want != "" {
				assert.Equal(t, tt.want, answer["message"])
			}
		})
	}
	_, err := srv.Store(strings.Replace(editor, `"verbs":["create"`, `"verbs":["escalate","bind","create"`, 1))
	require.NoError(t, err)
	code, _ := apitest.DoWithHeaders(t, srv, "POST", group+"roles", role("b", `"delete"`), apitest.AsAlice...)
	assert.Equal(t, 201, code, "with the verb escalate")
	code, _ = apitest.DoWithHeaders(t, srv, "POST", group+"rolebindings", binding("b", "b"), apitest.AsAlice...)
	assert.Equal(t, 201, code, "with the verb bind")
}

// A ClusterRole with an aggregationRule may permit everything, so who writes it must be allowed everything.
func TestClusterRoleEscalation(t *testing.T) {
	const group, selectors = "/apis/rbac.authorization.k8s.io/v1/", `"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}`
	role := func(name, fields string) string {
		return `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"` + name + `"},` + fields + `}`
	}
	binding := func(role string) string {
		return `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"alice"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"` + role + `"},"subjects":[{"kind":"User","name":"alice"}]}`
	}
	const notAdmin = `clusterroles.rbac.authorization.k8s.io "%s" is forbidden: must have cluster-admin privileges to use the aggregationRule`
	srv := apitest.StartRBAC(t, role("editor", `"rules":[{"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles","clusterrolebindings"],"verbs":["create","update","patch"]}]`), binding("editor"),
		role("aggregated", selectors), role("plain", `"rules":[]`))
	for _, tt := range []struct {
		name, method, path, body string
		code                     int
		want                     string
	}{
		{"create", "POST", "clusterroles", role("a", selectors), 403, fmt.Sprintf(notAdmin, "a")},
		{"create an invalid one", "POST", "clusterroles", role("a", `"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a b":""}}]}`), 403, fmt.Sprintf(notAdmin, "a")},
		{"create without selectors", "POST", "clusterroles", role("b", `"aggregationRule":{"clusterRoleSelectors":[]}`), 422, ""},
		{"create with other rules too", "POST", "clusterroles", role("a", `"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}],`+selectors), 403, "clusterroles.rbac.authorization.k8s.io \"a\" is forbidden: user \"alice\" (groups=[\"devs\" \"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}"},
		{"add", "PUT", "clusterroles/plain", role("plain", selectors), 403, fmt.Sprintf(notAdmin, "plain")},
		{"remove", "PUT", "clusterroles/aggregated", role("aggregated", `"rules":[]`), 403, fmt.Sprintf(notAdmin, "aggregated")},
		{"keep", "PATCH", "clusterroles/aggregated", `{"metadata":{"labels":{"a":"b"}}}`, 403, fmt.Sprintf(notAdmin, "aggregated")},
		{"change of finalizers", "PATCH", "clusterroles/aggregated", `{"metadata":{"finalizers":["a/b"]}}`, 200, ""},
		{"bind a Role", "POST", "clusterrolebindings", strings.NewReplacer(`"kind":"ClusterRole"`, `"kind":"Role"`, `"name":"alice"`, `"name":"c"`).Replace(binding("r")), 400, "Namespace parameter required."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, answer := apitest.DoWithHeaders(t, srv, tt.method, group+tt.path, tt.body, apitest.AsAlice...)
			assert.Equal(t, tt.code, code, answer)
			if tt.want != "" {
				assert.Equal(t, tt.want, answer["message"])
			}
		})
	}
	_, err := srv.Store(strings.Replace(binding("cluster-admin"), `"name":"alice"`, `"name":"admins"`, 1))
	require.NoError(t, err)
	code, answer := apitest.DoWithHeaders(t, srv, "POST", group+"clusterroles", role("a", selectors), apitest.AsAlice...)
	assert.Equal(t, 201, code, "as an administrator: %v", answer)
}

func TestReviews(t *testing.T) {
	srv := apitest.StartRBAC(t, apitest.ReaderRole, apitest.ReaderBinding)
	for _, tt := range []struct {
		name, path, body string
		want             any // the status, or part of the error message
	}{
		{"allowed", "authorization.k8s.io/v1/subjectaccessreviews", `{"spec":{"user":"alice","resourceAttributes":{"namespace":"default","verb":"get","resource":"pods"}}}`,
			map[string]any{"allowed": true, "reason": `RBAC: allowed by RoleBinding "r/default" of Role "r" to User "alice"`}},
		{"not allowed", "authorization.k8s.io/v1/subjectaccessreviews", `{"spec":{"user":"alice","resourceAttributes":{"verb":"get","resource":"pods"}}}`, map[string]any{"allowed": false}},
		{"path that everybody may get", "authorization.k8s.io/v1/subjectaccessreviews", `{"spec":{"groups":["system:unauthenticated"],"nonResourceAttributes":{"path":"/livez","verb":"get"}}}`,
			map[string]any{"allowed": true, "reason": `RBAC: allowed by ClusterRoleBinding "system:public-info-viewer" of ClusterRole "system:public-info-viewer" to Group "system:unauthenticated"`}},
		{"selectors with unknown operators", "authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"labelSelector":{"requirements":[{"key":"a","operator":"Exists"},{"key":"a","operator":"Near"}]},"fieldSelector":{"requirements":[{"key":"a","operator":"Exists"}]}}}}`,
			map[string]any{"allowed": true, "evaluationError": "spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector partially ignored due to parse error"}},
		{"metadata", "authorization.k8s.io/v1/selfsubjectaccessreviews", `{"metadata":{"labels":{"a":"b"},"name":"x"},"spec":{"resourceAttributes":{}}}`, `metadata: Invalid value: {"name":"x","labels":{"a":"b"},"managedFields":`},
		{"missing namespace", "authorization.k8s.io/v1/namespaces/nowhere/localsubjectaccessreviews", `{"spec":{"user":"x","resourceAttributes":{"namespace":"nowhere"}}}`, map[string]any{"allowed": false}},
		{"empty selector", "authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"fieldSelector":{}}}}`, "spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required"},
		{"unknown field", "authorization.k8s.io/v1/selfsubjectaccessreviews?fieldValidation=Strict", `{"spec":{"x":1}}`, `strict decoding error: unknown field "spec.x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, answer := apitest.DoWithHeaders(t, srv, "POST", "/apis/"+tt.path, tt.body, apitest.AsRoot...)
			if message, failed := tt.want.(string); failed {
				assert.Contains(t, answer["message"], message)
				return
			}
			assert.Equal(t, tt.want, answer["status"])
		})
	}
}
