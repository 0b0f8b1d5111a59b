//go:build go1.24

package access_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
)

// A reviewWebhook answers reviews, and has what it was asked.
type reviewWebhook struct {
	*httptest.Server
	kubeconfig string

	mu     sync.Mutex
	asked  []string // the bodies
	answer func(spec map[string]any) (code int, status string)
}

func newReviewWebhook(t *testing.T, answer func(spec map[string]any) (int, string)) *reviewWebhook {
	h := &reviewWebhook{answer: answer}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		h.asked = append(h.asked, string(body))
		var review struct {
			Kind, APIVersion string
			Spec             map[string]any
		}
		if err := json.Unmarshal(body, &review); err != nil || r.Header.Get("Authorization") != "Bearer api" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		code, status := h.answer(review.Spec)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"status":%s}`, review.Kind, review.APIVersion, status)
	}))
	t.Cleanup(h.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	h.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(h.kubeconfig, []byte(fmt.Sprintf(`
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: %s/review, certificate-authority-data: %s}}]
users: [{name: u, user: {token: api}}]
`, h.URL, base64.StdEncoding.EncodeToString(ca))), 0o600))
	return h
}

// questions returns what the webhook was asked since the last call.
func (h *reviewWebhook) questions() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	asked := h.asked
	h.asked = nil
	return asked
}

func TestTokenWebhook(t *testing.T) {
	hook := newReviewWebhook(t, func(spec map[string]any) (int, string) {
		switch spec["token"] {
		case "jane":
			return 200, `{"authenticated":true,"user":{"username":"jane","uid":"7","groups":["devs"],"extra":{"k":["v"]}}}`
		case "vault":
			return 200, `{"authenticated":true,"user":{"username":"jane"},"audiences":["vault"]}`
		case "wrong":
			return 200, `{"authenticated":false,"error":"it is wrong"}`
		case "down":
			return 503, `{}`
		case "busy":
			return 429, `{}`
		}
		return 200, `{"authenticated":false}`
	})
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(issued), fakeapi.WithToken("static", fakeapi.User{Name: "joe"}),
		fakeapi.WithAPIServer(apiserver.Config{Authentication: &apiserver.Authentication{TokenWebhook: &apiserver.TokenWebhook{Kubeconfig: hook.kubeconfig}}}))
	const jane = `{"extra":{"k":["v"]},"groups":["devs","system:authenticated"],"uid":"7","username":"jane"}`
	for _, tt := range []struct {
		name, token, want, error string
		calls                    int
	}{
		{"a user", "jane", jane, "", 1},
		{"a cached user", "jane", jane, "", 0},
		{"a static token is not asked for", "static", user("joe"), "", 0},
		{"an audience of another server", "vault", "401", "invalid bearer token", 1},
		{"an error", "wrong", "401", "[invalid bearer token, it is wrong]", 2},
		{"unknown", "other", "401", "invalid bearer token", 1},
		{"cached as unknown", "other", "401", "invalid bearer token", 0},
		{"the webhook is down", "down", "401", "[invalid bearer token, the server is currently unable to handle the request]", 2},
		{"the webhook is overloaded", "busy", "401", "[invalid bearer token, the server has received too many requests and has asked us to try again later]", 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, userOf(t, srv, tt.token))
			if tt.error != "" {
				assert.Equal(t, tt.error, reviewError(t, srv, tt.token))
			}
			assert.Len(t, hook.questions(), tt.calls)
		})
	}
	require.NoError(t, srv.Clock().Advance(2*time.Minute+1))
	assert.Equal(t, jane, userOf(t, srv, "jane"))
	asked := hook.questions()
	require.Len(t, asked, 1, "the answer has expired")
	assert.JSONEq(t, `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1beta1","metadata":{},"spec":{"token":"jane","audiences":["https://kubernetes.default.svc.cluster.local"]},"status":{"user":{}}}`, asked[0])
}

// as returns the status code and the body of a GET by a user.
func as(srv *fakeapi.Server, user, path string) (int, string) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Authorization", "Bearer "+user)
	srv.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestAuthorizationWebhook(t *testing.T) {
	hook := newReviewWebhook(t, func(spec map[string]any) (int, string) {
		switch spec["user"] {
		case "yes":
			return 200, `{"allowed":true,"reason":"because"}`
		case "no":
			return 200, `{"allowed":false,"reason":"it is late"}`
		case "never":
			return 200, `{"allowed":false,"denied":true,"reason":"it is night"}`
		case "both":
			return 200, `{"allowed":true,"denied":true}`
		}
		return 503, `{}`
	})
	tokens := []fakeapi.Option{fakeapi.WithInMemory(), fakeapi.WithManualClock(issued)}
	for _, name := range []string{"yes", "no", "never", "both", "down"} {
		tokens = append(tokens, fakeapi.WithToken(name, fakeapi.User{Name: name, Groups: []string{"devs"}, Extra: map[string][]string{"k": {"v"}}}))
	}
	tokens = append(tokens, fakeapi.WithToken("root", fakeapi.User{Name: "down", Groups: []string{"system:masters"}}))
	config := func(more string) []byte {
		return []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n" +
			"- type: Webhook\n  name: w\n  webhook:\n    timeout: 3s\n    subjectAccessReviewVersion: v1\n    connectionInfo: {type: KubeConfigFile, kubeConfigFile: " + hook.kubeconfig + "}\n" + more)
	}
	const rbac = "- {type: RBAC, name: rbac}\n"
	for _, tt := range []struct {
		name        string
		config      apiserver.Authorization
		user, path  string
		code        int
		body, asked string // parts; "-" if the webhook is not asked
	}{
		{"allowed", apiserver.Authorization{Config: config("    failurePolicy: NoOpinion\n")}, "yes", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn&labelSelector=a%20in%20(b),!c&limit=1", 200, "PodList",
			`{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},"status":{"allowed":false},"spec":{"user":"yes","groups":["devs","system:authenticated"],"extra":{"k":["v"]},"resourceAttributes":{"verb":"list","version":"v1","resource":"pods","fieldSelector":{"requirements":[{"key":"spec.nodeName","operator":"In","values":["n"]}]},"labelSelector":{"requirements":[{"key":"a","operator":"In","values":["b"]},{"key":"c","operator":"DoesNotExist"}]}}}}`},
		{"no opinion", apiserver.Authorization{Config: config("    failurePolicy: NoOpinion\n")}, "no", "/healthz", 403, `User \"no\" cannot get path \"/healthz\": w: it is late`, ""},
		{"v1beta1", apiserver.Authorization{Modes: []string{"Webhook"}, Webhook: &apiserver.AuthorizationWebhook{Kubeconfig: hook.kubeconfig}}, "yes", "/version", 200, "", `{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1beta1","metadata":{},"status":{"allowed":false},"spec":{"user":"yes","group":["devs","system:authenticated"],"extra":{"k":["v"]},"nonResourceAttributes":{"path":"/version","verb":"get"}}}`},
		{"roles decide after no opinion", apiserver.Authorization{Config: config("    failurePolicy: NoOpinion\n" + rbac)}, "no", "/version", 200, "", ""},
		{"roles do not decide after a denial", apiserver.Authorization{Config: config("    failurePolicy: NoOpinion\n" + rbac)}, "never", "/version", 403, "it is night", ""},
		{"roles decide before", apiserver.Authorization{Modes: []string{"RBAC", "Webhook"}, Webhook: &apiserver.AuthorizationWebhook{Kubeconfig: hook.kubeconfig}}, "never", "/version", 200, "", "-"},
		{"both answers", apiserver.Authorization{Config: config("    failurePolicy: NoOpinion\n")}, "both", "/version", 500, `Internal Server Error: "/version": webhook subject access review returned both allow and deny response`, ""},
		{"failure without opinion", apiserver.Authorization{Config: config("    failurePolicy: NoOpinion\n" + rbac)}, "down", "/version", 200, "", ""},
		{"failure without opinion of others", apiserver.Authorization{Config: config("    failurePolicy: NoOpinion\n" + rbac)}, "down", "/api/v1/pods", 500, `Internal Server Error: "/api/v1/pods": the server is currently unable to handle the request`, ""},
		{"failure denies", apiserver.Authorization{Config: config("    failurePolicy: Deny\n" + rbac)}, "down", "/version", 500, "the server is currently unable to handle the request", ""},
		{"masters", apiserver.Authorization{Config: config("    failurePolicy: Deny\n")}, "root", "/api/v1/pods", 200, "", "-"},
		{"a condition that is false", apiserver.Authorization{Config: config("    failurePolicy: Deny\n    matchConditionSubjectAccessReviewVersion: v1\n    matchConditions: [{expression: \"has(request.resourceAttributes) && request.resourceAttributes.resource == 'pods'\"}]\n")}, "yes", "/version", 403, "", "-"},
		{"a condition that is true", apiserver.Authorization{Config: config("    failurePolicy: Deny\n    matchConditionSubjectAccessReviewVersion: v1\n    matchConditions: [{expression: \"'devs' in request.groups\"}, {expression: \"request.extra.k == ['v']\"}]\n")}, "yes", "/version", 200, "", ""},
		{"a condition that fails", apiserver.Authorization{Config: config("    failurePolicy: Deny\n    matchConditionSubjectAccessReviewVersion: v1\n    matchConditions: [{expression: request.resourceAttributes.verb == 'get'}]\n")}, "yes", "/version", 500, "cel evaluation error: expression &#39;", "-"},
		{"a condition that fails without opinion", apiserver.Authorization{Config: config("    failurePolicy: NoOpinion\n    matchConditionSubjectAccessReviewVersion: v1\n    matchConditions: [{expression: request.resourceAttributes.verb == 'get'}]\n" + rbac)}, "yes", "/version", 200, "", "-"},
		{"reasons are joined", apiserver.Authorization{Modes: []string{"AlwaysDeny", "Webhook"}, Webhook: &apiserver.AuthorizationWebhook{Kubeconfig: hook.kubeconfig}}, "no", "/version", 403, `alwaysdeny: Everything is forbidden.\ndefault: it is late`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, append(tokens, fakeapi.WithAPIServer(apiserver.Config{Authorization: &tt.config}))...)
			hook.questions()
			code, body := as(srv, tt.user, tt.path)
			assert.Equal(t, tt.code, code, body)
			assert.Contains(t, strings.ReplaceAll(body, "'", "&#39;"), tt.body)
			asked := hook.questions()
			switch tt.asked {
			case "-":
				assert.Empty(t, asked)
			case "":
				assert.Len(t, asked, 1)
			default:
				require.Len(t, asked, 1)
				assert.JSONEq(t, tt.asked, asked[0])
			}
		})
	}
}

// Answers are cached on the server's clock.
func TestAuthorizationWebhookCache(t *testing.T) {
	hook := newReviewWebhook(t, func(spec map[string]any) (int, string) {
		return 200, fmt.Sprintf(`{"allowed":%t}`, spec["user"] == "yes")
	})
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(issued), fakeapi.WithToken("yes", fakeapi.User{Name: "yes"}), fakeapi.WithToken("no", fakeapi.User{Name: "no"}),
		fakeapi.WithAPIServer(apiserver.Config{Authorization: &apiserver.Authorization{Modes: []string{"Webhook"}, Webhook: &apiserver.AuthorizationWebhook{Kubeconfig: hook.kubeconfig, UnauthorizedTTL: time.Second}}}))
	for _, step := range []struct {
		advance time.Duration
		user    string
		asked   int
	}{{0, "yes", 1}, {0, "no", 1}, {time.Second, "no", 0}, {1, "no", 1}, {0, "yes", 0}, {5 * time.Minute, "yes", 1}} {
		require.NoError(t, srv.Clock().Advance(step.advance))
		as(srv, step.user, "/version")
		assert.Len(t, hook.questions(), step.asked, step)
	}
	as(srv, "yes", "/"+strings.Repeat("x", 10000))
	as(srv, "yes", "/"+strings.Repeat("x", 10000))
	assert.Len(t, hook.questions(), 2, "the answer for a long path is not cached")
}

// Reviews of access ask the webhook, too.
func TestAuthorizationWebhookReviews(t *testing.T) {
	hook := newReviewWebhook(t, func(spec map[string]any) (int, string) { return 200, `{"denied":true,"reason":"no"}` })
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{Authorization: &apiserver.Authorization{Modes: []string{"Webhook"}, Webhook: &apiserver.AuthorizationWebhook{Kubeconfig: hook.kubeconfig}}}))
	post := func(kind, spec string) string {
		resp, err := srv.Client().Post(srv.URL+"/apis/authorization.k8s.io/v1/"+kind, "application/json", strings.NewReader(`{"spec":`+spec+`}`))
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(body)
	}
	assert.Contains(t, post("subjectaccessreviews", `{"user":"jane","extra":{"k":["v"],"none":[]},"resourceAttributes":{"verb":"get","version":"v1","resource":"pods","fieldSelector":{"requirements":[{"key":"a","operator":"Exists"}]},"labelSelector":{"requirements":[{"key":"a","operator":"Exists"},{"key":"b","operator":"Gt","values":["1"]}]}}}`),
		`"status":{"allowed":false,"denied":true,"reason":"no","evaluationError":"spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector partially ignored due to parse error"}`)
	asked := hook.questions()
	require.Len(t, asked, 1)
	assert.NotContains(t, asked[0], "fieldSelector")
	assert.Contains(t, asked[0], `"labelSelector":{"requirements":[{"key":"a","operator":"Exists"}]}`)
	assert.Contains(t, asked[0], `"extra":{"k":["v"],"none":[]}`)
	assert.Contains(t, post("selfsubjectrulesreviews", `{"namespace":"default"}`), `"incomplete":true,"evaluationError":"webhook authorizer does not support user rule resolution"`)
}

// The errors are those of kube-apiserver v1.36.3 for the same files.
func TestInvalidAuthorizationConfig(t *testing.T) {
	for _, tt := range []struct{ name, authorizers, want string }{
		{"none", "[]", "authorizers: Required value: at least one authorization mode must be defined"},
		{"type", "[{name: a}, {type: Magic, name: b}]", `[authorizers[0].type: Required value, authorizers[1].type: Unsupported value: "Magic": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"]`},
		{"type twice", "[{type: RBAC, name: rbac}, {type: RBAC, name: b}]", `authorizers[1].type: Duplicate value: "RBAC"`},
		{"name", "[{type: RBAC, name: roles}]", "expected name rbac for authorizer RBAC instead of roles"},
		{"no webhook", "[{type: Webhook, name: a}]", "authorizers[0].webhook: Required value: required when type=Webhook"},
		{"webhook of another type", "[{type: RBAC, name: rbac, webhook: {}}]", `authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook`},
		{"empty webhook", "[{type: Webhook, name: a, webhook: {}}]", `[authorizers[0].timeout: Required value, authorizers[0].subjectAccessReviewVersion: Required value, authorizers[0].failurePolicy: Required value, authorizers[0].connectionInfo.type: Required value]`},
		{"webhook", "[{type: Webhook, name: a, webhook: {timeout: 31s, authorizedTTL: -1s, subjectAccessReviewVersion: v2, failurePolicy: Fail, connectionInfo: {type: KubeConfigFile, kubeConfigFile: a}, matchConditions: [{expression: request.a}, {expression: request.user}]}}]",
			`[authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s, authorizers[0].authorizedTTL: Invalid value: "-1s": must be > 0s, authorizers[0].subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1", authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified, authorizers[0].failurePolicy: Unsupported value: "Fail": supported values: "NoOpinion", "Deny", authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "a": must be an absolute path, authorizers[0].matchConditions[0].expression: Invalid value: "request.a": compilation failed: ERROR: <input>:1:8: undefined field 'a'`},
		{"result type", "[{type: Webhook, name: a, webhook: {timeout: 3s, subjectAccessReviewVersion: v1, matchConditionSubjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {type: InClusterConfig}, matchConditions: [{expression: request.user}]}}]",
			`authorizers[0].matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool but got string`},
		{"constant that does not convert", "[{type: Webhook, name: a, webhook: {timeout: 3s, subjectAccessReviewVersion: v1, matchConditionSubjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {type: InClusterConfig}, matchConditions: [{expression: 'bool(\"a\")'}]}}]",
			`authorizers[0].matchConditions[0].expression: Internal error: program instantiation failed: type conversion error from 'string' to 'bool'`},
		{"unknown field", "[{type: RBAC, name: rbac, foo: 1}]", `failed to load AuthorizationConfiguration from file: strict decoding error: unknown field "authorizers[0].foo"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := fakeapi.New(fakeapi.WithAPIServer(apiserver.Config{Authorization: &apiserver.Authorization{
				Config: []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: " + tt.authorizers),
			}}))
			require.ErrorIs(t, err, fakeapi.ErrInvalidOption)
			assert.Contains(t, err.Error(), tt.want)
		})
	}
}

// A request that waits for a webhook ends with its client, and Close waits for no
// webhook.
func TestReviewWebhookEndsWithRequest(t *testing.T) {
	for _, row := range []struct {
		name string
		end  func(srv *fakeapi.Server, cancel func())
	}{
		{"client", func(_ *fakeapi.Server, cancel func()) { cancel() }},
		{"server", func(srv *fakeapi.Server, _ func()) { srv.Close() }},
	} {
		t.Run(row.name, func(t *testing.T) {
			asked, release := make(chan bool, 2), make(chan bool)
			hook := newReviewWebhook(t, func(map[string]any) (int, string) {
				asked <- true
				<-release
				return 200, `{"allowed":true}`
			})
			defer close(release)
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithToken("jane", fakeapi.User{Name: "jane"}),
				fakeapi.WithAPIServer(apiserver.Config{Authorization: &apiserver.Authorization{Modes: []string{"Webhook"}, Webhook: &apiserver.AuthorizationWebhook{Kubeconfig: hook.kubeconfig}}}))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			req := httptest.NewRequest(http.MethodGet, "/api/v1/pods", nil).WithContext(ctx)
			req.Header.Set("Authorization", "Bearer jane")
			answer, ended := httptest.NewRecorder(), make(chan bool)
			go func() {
				defer close(ended)
				srv.ServeHTTP(answer, req)
			}()
			<-asked
			row.end(srv, cancel)
			select {
			case <-ended:
				assert.NotEqual(t, http.StatusOK, answer.Code, "the webhook has not allowed the request")
			case <-time.After(10 * time.Second):
				t.Error("the request waits for the webhook")
			}
		})
	}
}
