//go:build go1.24

package fakeapi_test

import (
	"bytes"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// writeState returns the state of a server as text.
func writeState(t *testing.T, srv *fakeapi.Server) string {
	t.Helper()
	var state bytes.Buffer
	require.NoError(t, srv.WriteState(&state))
	return state.String()
}

// objectsOf returns the lines of a state without the first one.
func objectsOf(state string) []string { return strings.Split(state, "\n")[1:] }

func TestState(t *testing.T) {
	first := fakeapi.Start(t, fakeapi.WithInMemory())
	definition := apitest.Widgets("v1", `"size":{"type":"integer"}`)
	for path, body := range map[string]string{
		"/api/v1/namespaces/default/configmaps":      `{"metadata":{"name":"a","labels":{"l":"v"}},"data":{"n":"<&>"}}`,
		"/api/v1/namespaces/default/pods":            `{"metadata":{"name":"p","finalizers":["example.com/f"]},"spec":{"containers":[{"name":"c","image":"i:1"}]}}`,
		"/api/v1/namespaces/default/services":        `{"metadata":{"name":"s"},"spec":{"type":"NodePort","ports":[{"port":1,"nodePort":30001}]}}`,
		"/api/v1/namespaces/default/serviceaccounts": `{"metadata":{"name":"robot"}}`,
		"/apis/apps/v1/namespaces/default/deployments": `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
			"spec":{"containers":[{"name":"c","image":"i:1"}]}}}}`,
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": definition,
	} {
		code, answer := apitest.Do(t, first, "POST", path, body)
		require.Equal(t, http.StatusCreated, code, answer)
	}
	const widgetsPath, podPath = "/apis/example.com/v1/namespaces/default/widgets", "/api/v1/namespaces/default/pods/p"
	code, answer := apitest.Do(t, first, "POST", widgetsPath, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1}}`)
	require.Equal(t, http.StatusCreated, code, answer)
	code, _ = apitest.Do(t, first, "DELETE", podPath, "") // waits for the finalizer
	require.Equal(t, http.StatusOK, code)
	code, answer = apitest.Do(t, first, "POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", `{"spec":{}}`)
	require.Equal(t, http.StatusCreated, code, answer)
	token := answer["status"].(map[string]any)["token"].(string)
	state := writeState(t, first)

	second := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithState(strings.NewReader(state)))
	assert.Equal(t, first.Revision(), second.Revision())
	assert.Equal(t, objectsOf(state), objectsOf(writeState(t, second)), "the same objects, byte for byte")
	for _, path := range []string{widgetsPath + "/w", podPath, "/apis/apps/v1/namespaces/default/deployments/d", "/api/v1/namespaces/default/configmaps/a"} {
		_, want := apitest.Do(t, first, "GET", path, "")
		code, got := apitest.Do(t, second, "GET", path, "")
		assert.Equal(t, http.StatusOK, code, path)
		assert.Equal(t, want, got)
	}

	t.Run("revisions grow", func(t *testing.T) {
		srv := second.Fork(t)
		_, answer := apitest.Do(t, srv, "PATCH", podPath, `{"metadata":{"finalizers":null}}`)
		assert.NotEmpty(t, answer)
		assert.Equal(t, first.Revision()+1, srv.Revision())
		code, _ := apitest.Do(t, srv, "GET", podPath, "")
		assert.Equal(t, http.StatusNotFound, code)
	})
	t.Run("old versions are gone", func(t *testing.T) {
		code, _ := apitest.Do(t, second, "GET", "/api/v1/namespaces/default/configmaps?resourceVersionMatch=Exact&resourceVersion=5", "")
		assert.Equal(t, http.StatusGone, code)
	})
	t.Run("node ports stay allocated", func(t *testing.T) {
		code, answer := apitest.Do(t, second.Fork(t), "POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"t"},"spec":{"type":"NodePort","ports":[{"port":1,"nodePort":30001}]}}`)
		assert.Equal(t, http.StatusUnprocessableEntity, code, answer)
	})
	t.Run("tokens", func(t *testing.T) {
		code, answer := apitest.Do(t, second, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"`+token+`"}}`)
		require.Equal(t, http.StatusCreated, code)
		assert.Equal(t, true, answer["status"].(map[string]any)["authenticated"], answer)
	})
	t.Run("the definition goes", func(t *testing.T) {
		srv := second.Fork(t)
		code, _ := apitest.Do(t, srv, "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com", "")
		assert.Equal(t, http.StatusOK, code)
		code, _ = apitest.Do(t, srv, "GET", widgetsPath+"/w", "")
		assert.Equal(t, http.StatusNotFound, code)
	})
	t.Run("Reset", func(t *testing.T) {
		srv := second.Fork(t)
		require.NoError(t, srv.Reset())
		_, err := srv.Get("configmaps", "default", "a")
		assert.ErrorIs(t, err, fakeapi.ErrNotFound)
	})
}

// The server creates again what it always has.
func TestStateWithoutSystemNamespace(t *testing.T) {
	first := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithSeed(1))
	require.NoError(t, first.Remove("namespaces", "", "kube-public"))
	second := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithSeed(1), fakeapi.WithState(strings.NewReader(writeState(t, first))))
	_, err := second.Get("namespaces", "", "kube-public")
	assert.NoError(t, err)
	var uids []string
	for _, srv := range []*fakeapi.Server{first, second} {
		_, answer := apitest.Do(t, srv, "POST", "/api/v1/namespaces", `{"metadata":{"name":"new"}}`)
		uids = append(uids, answer["metadata"].(map[string]any)["uid"].(string))
	}
	assert.NotEqual(t, uids[0], uids[1])
}

// A server that starts with a state updates its roles and bindings, unless their
// annotation forbids it.
func TestStateWithChangedRoles(t *testing.T) {
	const bindings, roles = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	for _, row := range []struct {
		name            string
		change, changed string // the path of an object, and a merge patch; without a patch it is deleted
		field           string
		want            any
	}{
		{name: "selectors are added", change: roles + "/view", changed: `{"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}}`, field: "aggregationRule",
			want: map[string]any{"clusterRoleSelectors": []any{map[string]any{"matchLabels": map[string]any{"a": "b"}}, map[string]any{"matchLabels": map[string]any{"rbac.authorization.k8s.io/aggregate-to-view": "true"}}}}},
		{name: "subjects are added", change: bindings + "/system:discovery", changed: `{"subjects":null}`, field: "subjects",
			want: []any{map[string]any{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:authenticated"}}},
		{name: "the annotation forbids it", change: bindings + "/system:discovery", changed: `{"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}},"subjects":null}`,
			field: "subjects", want: nil},
		{name: "a deleted binding", change: bindings + "/system:basic-user", field: "subjects",
			want: []any{map[string]any{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:authenticated"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			first := fakeapi.Start(t, fakeapi.WithInMemory())
			method := "PATCH"
			if row.changed == "" {
				method = "DELETE"
			}
			code, answer := apitest.Do(t, first, method, row.change, row.changed)
			require.Equal(t, http.StatusOK, code, answer)
			second := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithState(strings.NewReader(writeState(t, first))))
			code, answer = apitest.Do(t, second, "GET", row.change, "")
			require.Equal(t, http.StatusOK, code, answer)
			assert.Equal(t, row.want, answer[row.field])
		})
	}
	t.Run("a split binding", func(t *testing.T) {
		first := fakeapi.Start(t, fakeapi.WithInMemory())
		code, whole := apitest.Do(t, first, "PATCH", bindings+"/system:discovery", `{"metadata":{"labels":{"a":"b"},"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}},
			"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"alice"}]}`)
		require.Equal(t, http.StatusOK, code, whole)
		code, answer := apitest.Do(t, first, "DELETE", bindings+"/system:public-info-viewer", "")
		require.Equal(t, http.StatusOK, code, answer)
		second := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithState(strings.NewReader(writeState(t, first))))
		code, split := apitest.Do(t, second, "GET", bindings+"/system:public-info-viewer", "")
		require.Equal(t, http.StatusOK, code, split)
		assert.Equal(t, whole["subjects"], split["subjects"])
		for _, name := range []string{"labels", "annotations"} {
			assert.Equal(t, whole["metadata"].(map[string]any)[name], split["metadata"].(map[string]any)[name])
		}
	})
}

func TestInvalidState(t *testing.T) {
	good := writeState(t, fakeapi.Start(t, fakeapi.WithInMemory()))
	lines := strings.SplitAfter(good, "\n")
	for _, tt := range []struct{ name, state, err string }{
		{"empty", "", "not in the format"},
		{"other JSON", `{"kind":"List"}`, "not in the format"},
		{"cut", good[:len(good)-10], "of the state: unexpected EOF"},
		{"unknown resource", strings.Join(slices.Insert(slices.Clone(lines), 1, `{"group":"example.com","version":"v1","resource":"widgets","object":{}}`+"\n"), ""), "objects of widgets.example.com/v1"},
		{"no object", lines[0] + `{"version":"v1","resource":"pods","object":1}`, "an object of pods in the state"},
		{"key", `{"fakeapiState":1,"revision":9,"serviceAccountKey":"eA=="}`, "key of service accounts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithState(strings.NewReader(tt.state)))
			assert.ErrorIs(t, err, fakeapi.ErrInvalidOption)
			assert.ErrorContains(t, err, tt.err)
		})
	}
}

// A server with a second range adds it to the default ServiceCIDR of its state.
func TestStateWithSecondServiceRange(t *testing.T) {
	one, two, other := netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("2001:db8::/112"), netip.MustParsePrefix("10.9.0.0/24")
	for _, row := range []struct {
		name   string
		ranges []netip.Prefix
		want   []any
	}{
		{"second range", []netip.Prefix{one, two}, []any{"10.0.0.0/24", "2001:db8::/112"}},
		{"other ranges", []netip.Prefix{other, two}, []any{"10.0.0.0/24"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			state := writeState(t, fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{ServiceClusterIPRanges: []netip.Prefix{one}})))
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{ServiceClusterIPRanges: row.ranges}), fakeapi.WithState(strings.NewReader(state)))
			code, cidr := apitest.Do(t, srv, "GET", "/apis/networking.k8s.io/v1/servicecidrs/kubernetes", "")
			require.Equal(t, http.StatusOK, code)
			assert.Equal(t, row.want, cidr["spec"].(map[string]any)["cidrs"])
		})
	}
}
