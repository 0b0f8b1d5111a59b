package authz

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/authn"
)

// A policy holds bindings and roles as JSON.
type policy struct {
	bindings map[string][]string // by namespace
	roles    map[string]string   // by kind/name, or kind/namespace/name
}

func (p policy) Bindings(namespace string) *Bindings {
	return NewBindings(func(yield func(*Binding) bool) {
		for _, text := range p.bindings[namespace] {
			b, err := parseBinding([]byte(text))
			if err != nil {
				panic(err)
			}
			if !yield(b) {
				return
			}
		}
	})
}

func (p policy) Rules(ref RoleRef, namespace string) ([]Rule, error) {
	key := ref.Kind + "/" + ref.Name
	if ref.Kind == "Role" {
		key = ref.Kind + "/" + namespace + "/" + ref.Name
	}
	role, ok := p.roles[key]
	if !ok {
		return nil, &MissingRoleError{ref.Kind, ref.Name}
	}
	return ParseRules([]byte(role))
}

var testPolicy = policy{
	bindings: map[string][]string{
		"": {
			`{"metadata":{"name":"readers"},"subjects":[{"kind":"Group","name":"readers"}],"roleRef":{"kind":"ClusterRole","name":"reader"}}`,
			`{"metadata":{"name":"dangling"},"subjects":[{"kind":"User","name":"eve"}],"roleRef":{"kind":"ClusterRole","name":"gone"}}`,
			`{"metadata":{"name":"nobody"},"subjects":[{"kind":"ServiceAccount","name":"robot"}],"roleRef":{"kind":"ClusterRole","name":"reader"}}`,
		},
		"a": {
			`{"metadata":{"name":"w","namespace":"a"},"subjects":[{"kind":"User","name":"bob"},{"kind":"ServiceAccount","name":"robot"}],"roleRef":{"kind":"Role","name":"writer"}}`,
			`{"metadata":{"name":"r","namespace":"a"},"subjects":[{"kind":"User","name":"eve"}],"roleRef":{"kind":"Role","name":"gone"}}`,
		},
	},
	roles: map[string]string{
		"ClusterRole/reader": `{"rules":[{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]},{"verbs":["get"],"nonResourceURLs":["/healthz","/debug/*"]}]}`,
		"Role/a/writer":      `{"rules":[{"verbs":["*"],"apiGroups":["apps"],"resources":["*/scale"]},{"verbs":["update"],"apiGroups":["*"],"resources":["secrets","pods/status"],"resourceNames":["x"]}]}`,
	},
}

func TestAuthorize(t *testing.T) {
	reader := &authn.User{Name: "ann", Groups: []string{"readers"}}
	bob := &authn.User{Name: "bob"}
	eve := &authn.User{Name: "eve"}
	robot := &authn.User{Name: "system:serviceaccount:a:robot"}
	resource := func(verb, group, resource, sub, namespace, name string) Attributes {
		return Attributes{IsResource: true, Verb: verb, Group: group, Resource: resource, Subresource: sub, Namespace: namespace, Name: name}
	}
	for _, tt := range []struct {
		name   string
		user   *authn.User
		at     Attributes
		want   bool
		reason string
	}{
		{"ClusterRoleBinding at cluster scope", reader, resource("list", "", "pods", "", "", ""), true, `RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "reader" to Group "readers"`},
		{"ClusterRoleBinding in a namespace", reader, resource("get", "", "pods", "", "b", "x"), true, `RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "reader" to Group "readers"`},
		{"another verb", reader, resource("delete", "", "pods", "", "b", "x"), false, ""},
		{"another group", reader, resource("get", "apps", "pods", "", "b", "x"), false, ""},
		{"subresource of a permitted resource", reader, resource("get", "", "pods", "log", "b", "x"), false, ""},
		{"path", reader, Attributes{Verb: "get", Path: "/healthz"}, true, `RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "reader" to Group "readers"`},
		{"path with a permitted prefix", reader, Attributes{Verb: "get", Path: "/debug/x/y"}, true, `RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "reader" to Group "readers"`},
		{"path below a permitted path", reader, Attributes{Verb: "get", Path: "/healthz/etcd"}, false, ""},
		{"role in its namespace", bob, resource("patch", "apps", "deployments", "scale", "a", "x"), true, `RBAC: allowed by RoleBinding "w/a" of Role "writer" to User "bob"`},
		{"role in another namespace", bob, resource("patch", "apps", "deployments", "scale", "b", "x"), false, ""},
		{"role at cluster scope", bob, resource("patch", "apps", "deployments", "scale", "", "x"), false, ""},
		{"resource with a permitted subresource", bob, resource("patch", "apps", "deployments", "", "a", "x"), false, ""},
		{"resource name", bob, resource("update", "", "secrets", "", "a", "x"), true, `RBAC: allowed by RoleBinding "w/a" of Role "writer" to User "bob"`},
		{"other resource name", bob, resource("update", "", "secrets", "", "a", "y"), false, ""},
		{"no name, with a rule of resource names", bob, resource("update", "", "secrets", "", "a", ""), false, ""},
		{"subresource by name", bob, resource("update", "", "pods", "status", "a", "x"), true, `RBAC: allowed by RoleBinding "w/a" of Role "writer" to User "bob"`},
		{"service account without a namespace, in a RoleBinding", robot, resource("update", "", "secrets", "", "a", "x"), true, `RBAC: allowed by RoleBinding "w/a" of Role "writer" to ServiceAccount "robot/a"`},
		{"service account without a namespace, in a ClusterRoleBinding", robot, resource("get", "", "pods", "", "b", "x"), false, ""},
		{"missing role", eve, resource("get", "", "pods", "", "b", "x"), false, `RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found`},
		{"missing roles", eve, resource("get", "", "pods", "", "a", "x"), false, `RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "gone" not found]`},
		{"system:masters", &authn.User{Groups: []string{authn.MastersGroup}}, resource("x", "y", "z", "", "", ""), true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, Decision{Allowed: tt.want, Reason: tt.reason}, permitted(testPolicy).Authorize(context.Background(), tt.user, &tt.at))
		})
	}
	assert.True(t, Authorizer{}.Authorize(context.Background(), eve, &Attributes{Verb: "get", Path: "/x"}).Allowed, "a nil policy permits everything")
}

// Bindings finds the subjects that a walk of all bindings would find.
func TestBindings(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	for range 200 {
		namespace := pick("", "a")
		var all []*Binding
		for i := range random.IntN(8) {
			b := &Binding{}
			b.Metadata.Name, b.Metadata.Namespace = fmt.Sprint(i), namespace
			for range random.IntN(4) {
				b.Subjects = append(b.Subjects, Subject{Kind: pick("User", "Group", "ServiceAccount", "Robot"), Name: pick("x", "y", "system:serviceaccount:a:x"), Namespace: pick("", "a", "b")})
			}
			all = append(all, b)
		}
		u := &authn.User{Name: pick("x", "system:serviceaccount:a:x", "system:serviceaccount:b:y", "system:serviceaccount::x"), Groups: [][]string{nil, {"x"}, {"y", "x", "y"}}[random.IntN(3)]}
		var want, got []*Subject
		for _, b := range all {
			if s := b.subjectOf(u); s != nil {
				want = append(want, s)
			}
		}
		for _, s := range NewBindings(slices.Values(all)).of(u) {
			got = append(got, s)
		}
		require.Equal(t, want, got)
		for i := range want {
			require.Same(t, want[i], got[i])
		}
	}
}

func TestRules(t *testing.T) {
	rules, errs := permitted(testPolicy).Rules(&authn.User{Name: "eve", Groups: []string{"readers"}}, "a")
	assert.Len(t, rules, 2)
	assert.Len(t, errs, 2)
	rules, errs = Authorizer{}.Rules(&authn.User{}, "a")
	assert.Equal(t, everything, rules)
	assert.Empty(t, errs)
}

func TestHeldRoles(t *testing.T) {
	writer := RoleRef{Kind: "Role", Name: "writer"}
	rules, err := testPolicy.Rules(writer, "a")
	require.NoError(t, err)
	assert.Equal(t, []HeldRole{{writer, "a", rules}}, HeldRoles(testPolicy, "system:serviceaccount:a:robot", "b", "a"))
	assert.Empty(t, HeldRoles(testPolicy, "eve", "a"), "roles that do not exist")
	assert.Empty(t, HeldRoles(testPolicy, "bob"), "in no namespace")
}

func TestCheckHeld(t *testing.T) {
	unchanged := func(err error) error { return err }
	rule := func(verbs, groups, resources []string, names ...string) Rule {
		return Rule{Verbs: verbs, APIGroups: groups, Resources: resources, ResourceNames: names}
	}
	core := []string{""}
	ann := &authn.User{Name: "ann", Groups: []string{"readers"}}
	for _, tt := range []struct {
		name  string
		user  *authn.User
		rules []Rule
		want  string
	}{
		{"nothing", ann, nil, ""},
		{"held", ann, []Rule{rule([]string{"get", "list"}, core, []string{"pods"})}, ""},
		{"less than held", ann, []Rule{rule([]string{"get"}, core, []string{"pods"}, "x")}, ""},
		{"path below a prefix", ann, []Rule{{Verbs: []string{"get"}, NonResourceURLs: []string{"/debug/a*"}}}, ""},
		{"more verbs", ann, []Rule{rule([]string{"get", "patch", "delete"}, core, []string{"pods"})}, `{APIGroups:[""], Resources:["pods"], Verbs:["patch" "delete"]}`},
		{"all verbs", ann, []Rule{rule([]string{"*"}, core, []string{"pods"}, "s")}, `{APIGroups:[""], Resources:["pods"], ResourceNames:["s"], Verbs:["*"]}`},
		{"several", ann, []Rule{rule([]string{"get"}, core, []string{"secrets", "pods", "nodes"}), {Verbs: []string{"get"}, NonResourceURLs: []string{"*"}}},
			"{APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"get\"]}\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}\n{NonResourceURLs:[\"*\"], Verbs:[\"get\"]}"},
		{"subresource of a permitted wildcard", &authn.User{Name: "bob", Groups: []string{"readers"}}, []Rule{rule([]string{"get"}, []string{"apps"}, []string{"deployments/scale"})}, ""},
		{"errors", &authn.User{Name: "eve", Groups: []string{"readers"}}, []Rule{rule([]string{"get"}, core, []string{"nodes"})},
			"{APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"get\"]}; resolution errors: [[clusterrole.rbac.authorization.k8s.io \"gone\" not found, role.rbac.authorization.k8s.io \"gone\" not found]]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := RBAC{Policy: testPolicy}.checkHeld(tt.user, "a", tt.rules, unchanged)
			if tt.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, `user "`+tt.user.Name+`" (groups=["readers"]) is attempting to grant RBAC permissions not currently held:`+"\n"+tt.want)
		})
	}
}

// permitted returns the authorizer of the mode RBAC.
func permitted(p Policy) Authorizer { return Authorizer{Modes: []Mode{RBAC{p}}, Policy: p} }
