//go:build go1.25

package usage_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/usage"
)

// A fakeT is a test that Expect checks at its end.
type fakeT struct {
	failed   bool
	errors   []string
	cleanups []func()
}

func (t *fakeT) Helper()          {}
func (t *fakeT) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }
func (t *fakeT) Failed() bool     { return t.failed }
func (t *fakeT) Errorf(format string, args ...any) {
	t.errors = append(t.errors, fmt.Sprintf(format, args...))
}

func (t *fakeT) end() string {
	for _, f := range t.cleanups {
		f()
	}
	return strings.Join(t.errors, "\n")
}

func TestExpect(t *testing.T) {
	file := filepath.Join(t.TempDir(), "role.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`kind: ClusterRole
metadata: {name: manager-role}
rules:
- {apiGroups: [""], resources: [pods], verbs: [list, watch]}
`), 0o600))
	const list, watch = "GET /api/v1/pods", "GET /api/v1/pods?watch=true&timeoutSeconds=-1"
	manager := usage.Client{UserAgent: "manager/*"}
	for _, tt := range []struct {
		name     string
		requests []string
		failed   bool
		want     usage.Expectation
		errors   string
	}{
		{"all", []string{list, watch}, false, usage.Expectation{}, ""},
		{"unused", []string{list}, false, usage.Expectation{},
			"usage: the roles in FILE differ from what the client asks\ngranted and never asked:\n  FILE: ClusterRole manager-role: watch pods\n"},
		{"unused is allowed", []string{list}, false, usage.Expectation{AllowUnused: true}, ""},
		{"unused in a failed test", []string{list}, true, usage.Expectation{}, ""},
		{"missing", []string{list, watch, "GET /api/v1/nodes"}, false, usage.Expectation{},
			"usage: the roles in FILE differ from what the client asks\nasked and not granted:\n  list nodes in all namespaces or of the cluster: 1 request, as in GET /api/v1/nodes\n" +
				"    // +kubebuilder:rbac:groups=\"\",resources=nodes,verbs=list\n"},
		{"findings", append(strings.Split(times(9, list), "\n"), watch), false, usage.Expectation{Findings: true},
			"usage: findings, the worst first:\n  watch-without-bookmarks: manager/v1: watched pods, as in " + watch + "\n" +
				"    fix: set allowWatchBookmarks=true: without bookmarks a watch of rare changes starts again from an expired version, with a whole list\n"},
		{"findings are allowed", []string{list, watch}, false, usage.Expectation{}, ""},
		{"another client", []string{list}, false, usage.Expectation{Client: usage.Client{UserAgent: "other"}},
			"usage: no request of the client; there are those of the user agents manager/v1"},
		{"no file", nil, false, usage.Expectation{Roles: []string{"none"}}, "usage: no file matches \"none\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := start(t)
			newClient(t, srv).all("GET /api/v1/services") // before Expect
			inner := &fakeT{failed: tt.failed}
			if tt.want.Roles == nil {
				tt.want.Roles = []string{file}
			}
			if tt.want.Client == (usage.Client{}) {
				tt.want.Client = manager
			}
			usage.Expect(inner, srv, tt.want)
			newClient(t, srv).all(strings.Join(tt.requests, "\n"))
			assert.Equal(t, tt.errors, strings.ReplaceAll(inner.end(), file, "FILE"))
		})
	}
}

// With the environment variable, servers count from their start, and one file has their sum.
func TestDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "usage")
	t.Setenv(usage.Dir, dir)
	for range 2 {
		srv := start(t)
		newClient(t, srv).all("GET /api/v1/pods")
		fork, err := srv.NewFork()
		require.NoError(t, err)
		newClient(t, fork).all("GET /api/v1/nodes")
		fork.Close()
		srv.Close()
		srv.Close()
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.Open(files[0])
	require.NoError(t, err)
	defer text.Close()
	u, err := usage.Read(text)
	require.NoError(t, err)
	require.Len(t, u.Requests, 2)
	assert.EqualValues(t, 2, u.Requests[0].Count)
	assert.Equal(t, "ClusterRole: list nodes pods", brief(u.Roles("m")))
	assert.Equal(t, "clients:\n  manager/v1, user admin: 4 requests\nneeded:\n  ClusterRole:\n    list nodes, pods\n", u.Text())
}

// The control endpoint counts and compares, for other languages.
func TestControl(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	c := newClient(t, srv)
	code, body := c.do("POST /debug/fakeapi/roles {}")
	assert.Equal(t, 400, code)
	assert.Contains(t, body, "no requests are counted")
	c.all("POST /debug/fakeapi/usage\nGET /api/v1/pods")
	granted := `rules: [{apiGroups: [''], resources: [nodes], verbs: [list]}]`
	code, body = c.do(`POST /debug/fakeapi/roles {"userAgent": "manager/*", "granted": "{kind: ClusterRole, metadata: {name: m}, ` + granted + `}"}`)
	require.Equal(t, 200, code, body)
	var out struct {
		Roles           string
		Markers         []string
		Missing, Unused []any
		Text            string
	}
	require.NoError(t, json.Unmarshal([]byte(body), &out))
	assert.Equal(t, []string{`// +kubebuilder:rbac:groups="",resources=pods,verbs=list`}, out.Markers)
	assert.Contains(t, out.Roles, "kind: ClusterRole\nmetadata:\n  name: manager-role\n")
	assert.Len(t, out.Missing, 1)
	assert.Len(t, out.Unused, 1)
	assert.Contains(t, out.Text, "granted and never asked:\n  ClusterRole m: list nodes\n")

	_, body = c.do("DELETE /debug/fakeapi/usage")
	u, err := usage.Read(strings.NewReader(body))
	require.NoError(t, err)
	assert.Equal(t, "ClusterRole: list pods", brief(u.Roles("m")))
	assert.Contains(t, body, `"counting":false`)
}
