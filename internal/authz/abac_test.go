package authz

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/authn"
)

func readABAC(t *testing.T, text string) (*ABAC, error) {
	name := filepath.Join(t.TempDir(), "policies.jsonl")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	a, err := ReadABAC(name, 0)
	if err != nil {
		assert.Contains(t, err.Error(), "error reading policy file "+name)
	}
	return a, err
}

// v1beta1 returns a line with the spec.
func v1beta1(spec string) string {
	return `{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":` + spec + `}`
}

func TestABAC(t *testing.T) {
	ann := &authn.User{Name: "ann", Groups: []string{"dev", authn.AuthenticatedGroup}}
	nobody := &authn.User{Name: authn.AnonymousUser, Groups: []string{authn.UnauthenticatedGroup}}
	for _, tt := range []struct {
		name    string
		policy  string
		user    *authn.User
		action  string // verb group/resource namespace, or verb /path
		allowed bool
	}{
		{"v0: nothing is set", `{}`, ann, "create apps/deployments a", true},
		{"v0: a path", `{}`, ann, "get /healthz", true},
		{"v0: nothing is set, not for anonymous requests", `{}`, nobody, "get /pods a", false},
		{"v0: star is who has credentials", `{"user":"*"}`, nobody, "get /pods a", false},
		{"v0: another user", `{"user":"bob"}`, ann, "get /pods a", false},
		{"v0: user and another group", `{"user":"ann","group":"ops"}`, ann, "get /pods a", false},
		{"v0: a group", `{"group":"dev"}`, ann, "get /pods a", true},
		{"v0: namespace", `{"namespace":"a"}`, ann, "delete /pods a", true},
		{"v0: another namespace", `{"namespace":"b"}`, ann, "delete /pods a", false},
		{"v0: a namespace has no paths", `{"namespace":"a"}`, ann, "get /healthz", false},
		{"v0: cluster scope", `{"namespace":"a"}`, ann, "get /nodes", false},
		{"v0: resource of all groups", `{"resource":"deployments"}`, ann, "get apps/deployments a", true},
		{"v0: another resource", `{"resource":"pods"}`, ann, "get apps/deployments a", false},
		{"v0: read-only", `{"readonly":true}`, ann, "watch /pods a", true},
		{"v0: a write", `{"readonly":true}`, ann, "update /pods a", false},
		{"v0: with its version", `{"apiVersion":"abac.authorization.kubernetes.io/v0","kind":"Policy","user":"ann"}`, ann, "update /pods a", true},
		{"v1beta1: nothing is set", v1beta1(`{}`), ann, "get /pods a", false},
		{"v1beta1: no resource", v1beta1(`{"user":"ann"}`), ann, "get /pods a", false},
		{"v1beta1: all", v1beta1(`{"user":"*","namespace":"*","resource":"*","apiGroup":"*"}`), ann, "create apps/deployments a", true},
		{"v1beta1: star is who has credentials", v1beta1(`{"group":"*","namespace":"*","resource":"*","apiGroup":"*"}`), nobody, "get /pods a", false},
		{"v1beta1: the core group", v1beta1(`{"user":"ann","namespace":"a","resource":"pods"}`), ann, "get /pods a", true},
		{"v1beta1: another group", v1beta1(`{"user":"ann","namespace":"a","resource":"*","apiGroup":"apps"}`), ann, "get /pods a", false},
		{"v1beta1: no paths", v1beta1(`{"user":"ann","namespace":"*","resource":"*","apiGroup":"*"}`), ann, "get /healthz", false},
		{"v1beta1: a path", v1beta1(`{"user":"ann","nonResourcePath":"/healthz"}`), ann, "get /healthz", true},
		{"v1beta1: below a path", v1beta1(`{"user":"ann","nonResourcePath":"/healthz"}`), ann, "get /healthz/ping", false},
		{"v1beta1: a prefix", v1beta1(`{"user":"ann","nonResourcePath":"/healthz/*"}`), ann, "get /healthz/ping", true},
		{"v1beta1: all paths", v1beta1(`{"user":"ann","nonResourcePath":"*"}`), ann, "get /healthz", true},
		{"v1beta1: a path is no resource", v1beta1(`{"user":"ann","nonResourcePath":"*"}`), ann, "get /pods a", false},
		{"comments", "\n  # a comment\n{}", ann, "get /pods a", true},
		{"the second line", "{\"user\":\"bob\"}\n{}", ann, "get /pods a", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := readABAC(t, tt.policy)
			require.NoError(t, err)
			verb, rest, _ := strings.Cut(tt.action, " ")
			at := &Attributes{Verb: verb, Path: rest}
			if group, resource, _ := strings.Cut(rest, "/"); group != "" || strings.Contains(resource, " ") || resource == "nodes" {
				resource, namespace, _ := strings.Cut(resource, " ")
				at = &Attributes{Verb: verb, IsResource: true, Group: group, Resource: resource, Namespace: namespace}
			}
			d := a.Authorize(context.Background(), tt.user, at)
			assert.Equal(t, tt.allowed, d.Allowed)
			if !tt.allowed {
				assert.Equal(t, "No policy matched.", d.Reason)
			}
		})
	}
}

func TestABACErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"{}\n\nno", "line 3: no: couldn't get version/kind; json parse error: "},
		{`{"user":1}`, "user: expected a string, not a number"},
		{`{"apiVersion":"abac.authorization.kubernetes.io/v2","kind":"Policy"}`, `no kind "Policy" is registered for version "abac.authorization.kubernetes.io/v2"`},
		{`{"apiVersion":"abac.authorization.kubernetes.io/v1beta1"}`, "Object 'Kind' is missing in"},
		{`{"kind":"Role"}`, `no kind "Role" is registered for version "abac.authorization.kubernetes.io/v0"`},
		{strings.Repeat("x", 70000), "bufio.Scanner: token too long"},
	} {
		_, err := readABAC(t, tt.text)
		assert.ErrorContains(t, err, tt.want)
	}
	_, err := ReadABAC("none", 0)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestABACRules(t *testing.T) {
	a, err := readABAC(t, strings.Join([]string{
		`{"user":"bob"}`, `{"namespace":"a","readonly":true}`, v1beta1(`{"group":"*","namespace":"b","resource":"pods"}`), `{"user":"ann"}`,
	}, "\n"))
	require.NoError(t, err)
	rules, errs := a.Rules(&authn.User{Name: "ann", Groups: []string{authn.AuthenticatedGroup}}, "a")
	assert.Empty(t, errs)
	everything := []string{"*"}
	assert.Equal(t, []Rule{
		{Verbs: []string{"get", "list", "watch"}, APIGroups: everything, Resources: everything},
		{Verbs: everything, APIGroups: everything, Resources: everything},
		{Verbs: everything, NonResourceURLs: everything},
	}, rules)
}
