package authz

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// A mapStore holds objects by key.
type mapStore map[string]*storage.Object

func (s mapStore) Newest(key string) *storage.Object { return s[key] }

func (s mapStore) All(prefix string) iter.Seq[*storage.Object] {
	return func(yield func(*storage.Object) bool) {
		for _, key := range slices.Sorted(maps.Keys(s)) {
			if strings.HasPrefix(key, prefix) && !yield(s[key]) {
				return
			}
		}
	}
}

// Mark returns a new mark each time.
func (s mapStore) Mark(prefix string) mvcc.Mark[*storage.Object] {
	return mvcc.New[*storage.Object](mvcc.Options{}).Mark(prefix)
}

func types(t *testing.T) *resource.Types {
	r, err := release.Open("")
	require.NoError(t, err)
	return resource.NewTypes(kinds.Types(r))
}

// decode decodes a role, binding or review of a resource.
func decode(t *testing.T, typ *resource.Type, body string) map[string]any {
	obj, _, err := typ.Codec.Decode([]byte(body), false)
	require.NoError(t, err)
	return obj
}

// newStorePolicy returns a policy in which alice may get pods everywhere, and
// read secrets in the namespace a.
func newStorePolicy(t *testing.T) *StorePolicy {
	p := &StorePolicy{Types: types(t), Store: mapStore{}}
	for _, o := range []struct{ resource, body string }{
		{"clusterroles", `{"metadata":{"name":"pods","uid":"1"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`},
		{"clusterrolebindings", `{"metadata":{"name":"pods","uid":"2"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"alice"}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"pods"}}`},
		{"roles", `{"metadata":{"name":"secrets","namespace":"a","uid":"3"},"rules":[{"verbs":["get","list"],"apiGroups":[""],"resources":["secrets"]}]}`},
		{"rolebindings", `{"metadata":{"name":"secrets","namespace":"a","uid":"4"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"alice"}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"secrets"}}`},
	} {
		typ := p.Types.Lookup(rbacGroup, "v1", o.resource)
		stored := storage.New(typ, decode(t, typ, o.body), nil)
		p.Store.(mapStore)[typ.Key(stored.Namespace, stored.Name)] = stored
	}
	return p
}

func TestStorePolicy(t *testing.T) {
	p := newStorePolicy(t)
	alice := &authn.User{Name: "alice"}
	assert.Equal(t, []string{"pods"}, names(p.Bindings("").of(alice)))
	assert.Equal(t, []string{"secrets"}, names(p.Bindings("a").of(alice)))
	assert.Empty(t, names(p.Bindings("b").of(alice)))

	rules, err := p.Rules(RoleRef{Kind: "Role", Name: "secrets"}, "a")
	assert.NoError(t, err)
	assert.Len(t, rules, 1)
	rules, err = p.Rules(RoleRef{Kind: "ClusterRole", Name: "pods"}, "a")
	assert.NoError(t, err, "a RoleBinding can refer to a ClusterRole")
	assert.Len(t, rules, 1)
	_, err = p.Rules(RoleRef{Kind: "Role", Name: "secrets"}, "b")
	assert.Equal(t, &MissingRoleError{Kind: "Role", Name: "secrets"}, err)
	_, err = p.Rules(RoleRef{Kind: "Group", Name: "x"}, "b")
	assert.EqualError(t, err, `unsupported role reference kind: "Group"`)
}

func names(bindings iter.Seq2[*Binding, *Subject]) (out []string) {
	for b := range bindings {
		out = append(out, b.Metadata.Name)
	}
	return out
}

// A StorePolicy keeps bindings until one in their namespace changes.
func TestStorePolicyChanges(t *testing.T) {
	store := storage.NewStore(clock.New(), storage.Limits{})
	p := &StorePolicy{Types: types(t), Store: store}
	typ := p.Types.Lookup(rbacGroup, "v1", "rolebindings")
	put := func(namespace, name, user string) {
		body := fmt.Sprintf(`{"metadata":{"name":%q,"namespace":%q,"uid":"1"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":%q}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"}}`, name, namespace, user)
		_, err := store.Update(func(tx storage.Txn) error {
			tx.Put(typ.Key(namespace, name), storage.New(typ, decode(t, typ, body), nil).At(tx.Revision()))
			return nil
		})
		require.NoError(t, err)
	}
	alice := &authn.User{Name: "alice"}
	put("a", "1", "alice")
	before := p.Bindings("a")
	assert.Equal(t, []string{"1"}, names(before.of(alice)))
	put("b", "1", "alice")
	assert.Same(t, before, p.Bindings("a"))
	put("a", "0", "alice")
	put("a", "2", "bob")
	assert.Equal(t, []string{"0", "1"}, names(p.Bindings("a").of(alice)))
	put("a", "1", "bob")
	assert.Equal(t, []string{"0"}, names(p.Bindings("a").of(alice)))
	for i := range 2 * maxScopes {
		p.Bindings(fmt.Sprint(i))
		assert.LessOrEqual(t, len(p.scopes), maxScopes)
	}
}

func TestCheckEscalation(t *testing.T) {
	rbac := permitted(newStorePolicy(t))
	rules := func(verbs string) string {
		return `{"metadata":{"name":"new","namespace":"a"},"rules":[{"verbs":[` + verbs + `],"apiGroups":[""],"resources":["secrets"]}]}`
	}
	binding := func(role string) string {
		return `{"metadata":{"name":"new","namespace":"a"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"` + role + `"}}`
	}
	for _, tt := range []struct{ name, user, resource, body, old, err string }{
		{name: "rules that the user holds", user: "alice", resource: "roles", body: rules(`"get"`)},
		{name: "rules that the user does not hold", user: "alice", resource: "roles", body: rules(`"get","delete"`),
			err: `roles.rbac.authorization.k8s.io "new" is forbidden: user "alice" (groups=[]) is attempting to grant RBAC permissions not currently held:` + "\n" + `{APIGroups:[""], Resources:["secrets"], Verbs:["delete"]}`},
		{name: "a change of owners", user: "alice", resource: "roles", body: strings.Replace(rules(`"delete"`), `"name"`, `"finalizers":["x/y"],"name"`, 1), old: rules(`"delete"`)},
		{name: "a change of rules", user: "alice", resource: "roles", body: rules(`"delete"`), old: rules(`"get"`), err: "not currently held"},
		{name: "a binding to a role that the user holds", user: "alice", resource: "rolebindings", body: binding("secrets")},
		{name: "a binding to a role that the user does not hold", user: "bob", resource: "rolebindings", body: binding("secrets"), err: "not currently held"},
		{name: "a binding to a missing role", user: "alice", resource: "rolebindings", body: binding("gone"), err: `rolebindings.rbac.authorization.k8s.io "gone" not found`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			typ := types(t).Lookup(rbacGroup, "v1", tt.resource)
			w := RoleWrite{Type: typ, Namespace: "a", Name: "new", Object: decode(t, typ, tt.body)}
			if tt.old != "" {
				w.Old = object.ViewOf(decode(t, typ, tt.old))
			}
			err := rbac.CheckEscalation(context.Background(), &authn.User{Name: tt.user}, w)
			if tt.err == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, tt.err)
			}
			assert.NoError(t, Authorizer{}.CheckEscalation(context.Background(), &authn.User{Name: tt.user}, w), "without RBAC")
			assert.NoError(t, rbac.CheckEscalation(context.Background(), &authn.User{Groups: []string{authn.MastersGroup}}, w), "as an administrator")
		})
	}
}
