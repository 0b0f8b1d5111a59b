package objects_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// A deletion of Jobs without a propagation policy warns that their Pods stay, whether
// it succeeds or not.
func TestOrphanWarning(t *testing.T) {
	const (
		jobs    = "/apis/batch/v1/namespaces/default/jobs"
		warning = `299 - "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"`
	)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(
		`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a","namespace":"default"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`,
	))
	for _, tt := range []struct {
		name, path, body string
		code             int
		warns            bool
	}{
		{"dry run", jobs + "/a?dryRun=All", "", 200, true},
		{"empty options", jobs + "/a", `{"dryRun":["All"]}`, 200, true},
		{"policy", jobs + "/a?dryRun=All&propagationPolicy=Background", "", 200, false},
		{"policy in the body", jobs + "/a", `{"dryRun":["All"],"propagationPolicy":"Orphan"}`, 200, false},
		{"orphanDependents", jobs + "/a?dryRun=All&orphanDependents=true", "", 200, false},
		{"wrong precondition", jobs + "/a", `{"preconditions":{"uid":"x"}}`, 409, true},
		{"missing", jobs + "/b", "", 404, true},
		{"invalid options", jobs + "/a?gracePeriodSeconds=x", "", 400, false},
		{"collection", jobs, "", 200, true},
		{"empty collection", jobs, "", 200, true},
		{"collection with policy", jobs + "?propagationPolicy=Background", "", 200, false},
		{"another kind", "/api/v1/namespaces/default/replicationcontrollers", "", 200, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest("DELETE", srv.URL+tt.path, strings.NewReader(tt.body))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, tt.code, resp.StatusCode)
			var want []string
			if tt.warns {
				want = []string{warning}
			}
			assert.Equal(t, want, resp.Header["Warning"])
		})
	}
}

// The preconditions of a deletion name the resource if it has a phase of termination, and the
// kind otherwise.
func TestDeletePreconditions(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop"}}`,
	))
	for _, tt := range []struct{ name, path, preconditions, want string }{
		{"namespace of another UID", "/api/v1/namespaces/shop", `{"uid":"x"}`, `Operation cannot be fulfilled on namespaces \"shop\": Precondition failed: UID in precondition: x, UID in object meta: `},
		{"namespace of another version", "/api/v1/namespaces/shop", `{"resourceVersion":"x"}`, `Operation cannot be fulfilled on namespaces \"shop\": Precondition failed: ResourceVersion in precondition: x, ResourceVersion in object meta: `},
		{"object of another UID", "/api/v1/namespaces/shop/configmaps/a", `{"uid":"x"}`, `Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (x) does not match the UID in record `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest("DELETE", srv.URL+tt.path, strings.NewReader(`{"preconditions":`+tt.preconditions+`}`))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, http.StatusConflict, resp.StatusCode)
			assert.Contains(t, string(body), tt.want)
		})
	}
}

// The PriorityClasses of the system can only be deleted as part of a collection.
func TestDeleteSystemPriorityClass(t *testing.T) {
	const (
		classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
		why     = `priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted`
	)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(
		`{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"a"},"value":1}`,
	))
	for _, tt := range []struct {
		name, path string
		code       int
		want       any
	}{
		{"of the system", classes + "/system-node-critical", 403, why},
		{"dry run", classes + "/system-node-critical?dryRun=All", 403, why},
		{"of a user", classes + "/a", 200, nil},
		{"collection", classes, 200, nil},
		{"of the system, missing", classes + "/system-node-critical", 403, why},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, body := apitest.Do(t, srv, "DELETE", tt.path, "")
			assert.Equal(t, tt.code, code)
			assert.Equal(t, tt.want, body["message"])
		})
	}
}

// The first DELETE of a definition ignores the propagation policy, that of a Namespace does not.
func TestDeleteMarksOnly(t *testing.T) {
	for _, tt := range []struct {
		name, path, object string
		want               []any
	}{
		{"definition", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com", apitest.Widgets("v1", ""),
			[]any{"example.com/a", "customresourcecleanup.apiextensions.k8s.io"}},
		{"namespace", "/api/v1/namespaces/n", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}}`, []any{"example.com/a", "foregroundDeletion"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(tt.object))
			code, answer := apitest.DoWithHeaders(t, srv, "PATCH", tt.path, `{"metadata":{"finalizers":["example.com/a"]}}`, "Content-Type", "application/merge-patch+json")
			require.Equal(t, 200, code, answer["message"])
			before := answer["metadata"].(map[string]any)["generation"]
			code, answer = apitest.Do(t, srv, "DELETE", tt.path, `{"propagationPolicy":"Foreground"}`)
			require.Equal(t, 200, code, answer["message"])
			meta := answer["metadata"].(map[string]any)
			assert.Equal(t, tt.want, meta["finalizers"])
			assert.Equal(t, before, meta["generation"])
		})
	}
}

// The answer to the write that completes a deletion is what was to be stored: an empty list is not null.
func TestAnswerOfTheLastWrite(t *testing.T) {
	const path = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
	for _, r := range []struct {
		name, method, body, format string
		rules                      any
	}{
		{"put without rules", "PUT", `{"metadata":{"name":"a"}}`, "application/json", nil},
		{"put with an empty list", "PUT", `{"metadata":{"name":"a"},"rules":[]}`, "application/json", []any{}},
		{"merge patch", "PATCH", `{"metadata":{"finalizers":null},"rules":[]}`, "application/merge-patch+json", []any{}},
	} {
		t.Run(r.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory())
			code, answer := apitest.Do(t, srv, "POST", path, `{"metadata":{"name":"a","finalizers":["example.com/a"]},"rules":[]}`)
			require.Equal(t, 201, code, answer)
			assert.Nil(t, answer["rules"], "stored")
			code, answer = apitest.Do(t, srv, "DELETE", path+"/a", "")
			require.Equal(t, 200, code, answer)
			code, answer = apitest.DoWithHeaders(t, srv, r.method, path+"/a", r.body, "Content-Type", r.format)
			require.Equal(t, 200, code, answer)
			assert.Equal(t, r.rules, answer["rules"])
			code, _ = apitest.Do(t, srv, "GET", path+"/a", "")
			assert.Equal(t, 404, code)
		})
	}
}
