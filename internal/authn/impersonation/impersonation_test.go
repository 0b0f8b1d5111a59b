package impersonation

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
)

func TestRequested(t *testing.T) {
	for _, tt := range []struct {
		name    string
		headers http.Header
		want    *authn.User
		err     string
	}{
		{"no headers", http.Header{"Accept": {"*/*"}}, nil, ""},
		{"user", http.Header{userHeader: {"bob"}}, &authn.User{Name: "bob"}, ""},
		{"all members", http.Header{userHeader: {"bob"}, groupHeader: {"a", "b"}, uidHeader: {"1"}, "Impersonate-Extra-Acme.io%2fscope": {"x", "y"}},
			&authn.User{Name: "bob", UID: "1", Groups: []string{"a", "b"}, Extra: map[string][]string{"acme.io/scope": {"x", "y"}}}, ""},
		{"extra key that does not unescape", http.Header{userHeader: {"bob"}, "Impersonate-Extra-A%Z": {"x"}},
			&authn.User{Name: "bob", Extra: map[string][]string{"a%z": {"x"}}}, ""},
		{"group without a user", http.Header{groupHeader: {"a"}}, nil,
			`requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a"}, Extra:map[string][]string(nil)} without impersonating a user name`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Requested(tt.headers)
			if tt.err != "" {
				assert.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

// A rulesOf policy grants every user these rules.
type rulesOf []authz.Rule

func (p rulesOf) Bindings(namespace string) *authz.Bindings {
	var all []*authz.Binding
	if namespace == "" {
		all = append(all, &authz.Binding{Subjects: []authz.Subject{{Kind: "Group", Name: "all"}}})
	}
	return authz.NewBindings(slices.Values(all))
}

func (p rulesOf) Rules(authz.RoleRef, string) ([]authz.Rule, error) { return p, nil }

func TestAuthorize(t *testing.T) {
	const group = "authentication.k8s.io"
	rule := func(verb, group, resource string, names ...string) authz.Rule {
		return authz.Rule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
	}
	on := func(mode string) authz.Rule { return rule("impersonate-on:"+mode+":list", "", "pods") }
	user := func(name string, groups ...string) *authn.User { return &authn.User{Name: name, Groups: groups} }
	kubelet := &authn.User{Name: "system:serviceaccount:ns:agent", Groups: []string{"all"}, Extra: map[string][]string{authn.ExtraNodeName: {"n1"}}}
	for _, tt := range []struct {
		name       string
		rules      rulesOf
		by         *authn.User // nil for alice
		requested  *authn.User
		groups     []string
		constraint string
		legacyOnly bool
		err        string
	}{
		{name: "legacy user", rules: rulesOf{rule("impersonate", "", "users", "bob")}, requested: user("bob"), groups: []string{"system:authenticated"}},
		{name: "legacy group", rules: rulesOf{rule("impersonate", "", "users"), rule("impersonate", "", "groups", "a")}, requested: user("bob", "a"), groups: []string{"a", "system:authenticated"}},
		{name: "legacy masters", rules: rulesOf{rule("impersonate", "", "users"), rule("impersonate", "", "groups")}, requested: user("bob", "system:masters"), groups: []string{"system:masters", "system:authenticated"}},
		{name: "legacy service account", rules: rulesOf{rule("impersonate", "", "serviceaccounts", "b")}, requested: user("system:serviceaccount:a:b"),
			groups: []string{"system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"}},
		{name: "legacy node", rules: rulesOf{rule("impersonate", "", "users")}, requested: user("system:node:n1"), groups: []string{"system:authenticated"}},
		{name: "anonymous", rules: rulesOf{rule("impersonate", "", "users")}, requested: user("system:anonymous"), groups: []string{"system:unauthenticated"}},

		{name: "user-info", rules: rulesOf{on("user-info"), rule("impersonate:user-info", group, "users", "bob")}, requested: user("bob"), groups: []string{"system:authenticated"}, constraint: "impersonate:user-info"},
		{name: "user-info, without constrained modes", rules: rulesOf{on("user-info"), rule("impersonate:user-info", group, "users", "bob")}, requested: user("bob"), legacyOnly: true, err: "cannot impersonate resource \"users\""},
		{name: "user-info without the request's verb", rules: rulesOf{rule("impersonate:user-info", group, "users")}, requested: user("bob"), err: "cannot impersonate-on:user-info:list resource \"pods\""},
		{name: "user-info masters", rules: rulesOf{on("user-info"), rule("impersonate:user-info", group, "*")}, requested: user("bob", "system:masters"), err: "impersonating the system:masters group is not allowed"},
		{name: "user-info empty group", rules: rulesOf{on("user-info"), rule("impersonate:user-info", group, "*")}, requested: user("bob", ""), err: "impersonating the empty string group is not allowed"},
		{name: "user-info, some groups by a wildcard", rules: rulesOf{on("user-info"), rule("impersonate:user-info", group, "users"), rule("impersonate:user-info", group, "groups", "*")},
			requested: user("bob", "a", "b", "c", "d"), groups: []string{"a", "b", "c", "d", "system:authenticated"}, constraint: "impersonate:user-info"},
		{name: "user-info, few groups need their names", rules: rulesOf{on("user-info"), rule("impersonate:user-info", group, "users"), rule("impersonate:user-info", group, "groups", "*")},
			requested: user("bob", "a", "b", "c"), err: "cannot impersonate:user-info resource \"groups\""},
		{name: "user-info extra", rules: rulesOf{on("user-info"), rule("impersonate:user-info", group, "users"), rule("impersonate:user-info", group, "userextras/acme.io/scope", "x")},
			requested: &authn.User{Name: "bob", Extra: map[string][]string{"acme.io/scope": {"x"}}}, groups: []string{"system:authenticated"}, constraint: "impersonate:user-info"},
		{name: "user-info empty extra value", rules: rulesOf{on("user-info"), rule("impersonate:user-info", group, "*")},
			requested: &authn.User{Name: "bob", Extra: map[string][]string{"acme.io/scope": {""}}}, err: "impersonating the empty string value in extra is not allowed"},
		{name: "serviceaccount", rules: rulesOf{on("serviceaccount"), rule("impersonate:serviceaccount", group, "serviceaccounts", "b")}, requested: user("system:serviceaccount:a:b"),
			groups: []string{"system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"}, constraint: "impersonate:serviceaccount"},
		{name: "arbitrary-node", rules: rulesOf{on("arbitrary-node"), rule("impersonate:arbitrary-node", group, "nodes", "n1")}, requested: user("system:node:n1"),
			groups: []string{"system:nodes", "system:authenticated"}, constraint: "impersonate:arbitrary-node"},
		{name: "associated-node", rules: rulesOf{on("associated-node"), rule("impersonate:associated-node", group, "nodes")}, by: kubelet, requested: user("system:node:n1"),
			groups: []string{"system:nodes", "system:authenticated"}, constraint: "impersonate:associated-node"},
		{name: "another node is not associated", rules: rulesOf{on("associated-node"), rule("impersonate:associated-node", group, "nodes")}, by: kubelet, requested: user("system:node:n2"),
			err: "cannot impersonate-on:arbitrary-node:list resource \"pods\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			by := tt.by
			if by == nil {
				by = user("alice", "all")
			}
			got, constraint, err := (&Modes{LegacyOnly: tt.legacyOnly}).Authorize(context.Background(), permitted(tt.rules), tt.requested, by, authz.Attributes{IsResource: true, Verb: "list", Resource: "pods"})
			if tt.err != "" {
				assert.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.requested.Name, got.Name)
			assert.Equal(t, tt.requested.Extra, got.Extra)
			assert.Equal(t, tt.groups, got.Groups)
			assert.Equal(t, tt.constraint, constraint)
		})
	}
}

func TestInvalidExtra(t *testing.T) {
	for _, tt := range []struct{ name, key, value, want string }{
		{"valid", "acme.io/scope", "x", ""},
		{"empty key", "", "x", "impersonating the empty string key in extra is not allowed"},
		{"empty value", "acme.io/scope", "", "impersonating the empty string value in extra is not allowed"},
		{"capital letter", "example.com/Scope", "x", `impersonating a non-lowercase key in extra is not allowed: "example.com/Scope"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, invalidExtra(map[string][]string{tt.key: {tt.value}}))
		})
	}
	assert.Contains(t, invalidExtra(map[string][]string{"a b": {"x"}}), "impersonating an invalid key in extra is not allowed: ")
}

// The mode that last allowed a user an impersonation is tried first: it decides about
// the groups, and its error is shown if all modes fail.
func TestRememberedMode(t *testing.T) {
	rules := rulesOf{
		{Verbs: []string{"impersonate"}, APIGroups: []string{""}, Resources: []string{"users"}},
		{Verbs: []string{"impersonate:arbitrary-node"}, APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"nodes"}},
		{Verbs: []string{"impersonate-on:arbitrary-node:list"}, APIGroups: []string{""}, Resources: []string{"pods"}},
	}
	at := authz.Attributes{IsResource: true, Verb: "list", Resource: "pods"}
	var modes Modes
	ask := func(by, user string, groups ...string) ([]string, string) {
		got, _, err := modes.Authorize(context.Background(), permitted(rules), &authn.User{Name: user, Groups: groups}, &authn.User{Name: by, Groups: []string{"all"}}, at)
		if err != nil {
			return nil, err.Error()
		}
		return got.Groups, ""
	}
	const node = "system:node:n"
	_, before := ask("ann", "bob", "g")
	assert.Contains(t, before, `cannot impersonate-on:user-info:list resource "pods"`)
	groups, _ := ask("ann", node)
	assert.Equal(t, []string{"system:nodes", "system:authenticated"}, groups)

	groups, _ = ask("eve", "bob")
	assert.Equal(t, []string{"system:authenticated"}, groups, "the legacy mode allows it")
	_, after := ask("eve", "bob", "g")
	assert.Contains(t, after, `cannot impersonate resource "groups"`)
	groups, _ = ask("eve", node)
	assert.Equal(t, []string{"system:authenticated"}, groups)
	groups, _ = ask("ann", node)
	assert.Equal(t, []string{"system:nodes", "system:authenticated"}, groups, "of another user")
}

// permitted returns the authorizer of the mode RBAC.
func permitted(p authz.Policy) authz.Authorizer {
	return authz.Authorizer{Modes: []authz.Mode{authz.RBAC{Policy: p}}, Policy: p}
}
