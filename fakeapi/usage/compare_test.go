//go:build go1.25

package usage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/usage"
)

func TestCompare(t *testing.T) {
	srv := start(t)
	newClient(t, srv).all(watchWidgets + `
		PATCH /apis/shop.example.com/v1/namespaces/shop/widgets/web/status {"status": {"ready": true}}
		POST /api/v1/namespaces/shop/secrets {metadata: {name: web-tls}}
		POST /apis/coordination.k8s.io/v1/namespaces/operator-system/leases {metadata: {name: manager-leader}}`)
	u := usage.Of(srv)
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"granted", map[string]string{"role.yaml": `
kind: ClusterRole
metadata: {name: manager-role}
rules:
- {apiGroups: [shop.example.com], resources: [widgets], verbs: [list, watch]}
- {apiGroups: [shop.example.com], resources: [widgets/status], verbs: [patch]}
- {apiGroups: [""], resources: [secrets], verbs: [create]}
---
kind: Role
metadata: {name: leader-election, namespace: system}
rules:
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}
`}, ""},
		{"in a namespace only, and more than that", map[string]string{"role.yaml": `
kind: Role
metadata: {name: manager-role}
rules:
- {apiGroups: [shop.example.com], resources: [widgets, widgets/status], verbs: [patch, list, watch, delete]}
- {apiGroups: ["", coordination.k8s.io], resources: ["*"], verbs: [create]}
- {nonResourceURLs: [/metrics], verbs: [get]}
`}, `asked and not granted:
  create secrets in all namespaces or of the cluster: 1 request, as in POST /api/v1/namespaces/shop/secrets; granted in a namespace only
    // +kubebuilder:rbac:groups="",resources=secrets,verbs=create
  list widgets.shop.example.com in all namespaces or of the cluster: 1 request, as in GET /apis/shop.example.com/v1/widgets; granted in a namespace only
    // +kubebuilder:rbac:groups=shop.example.com,resources=widgets,verbs=list
  watch widgets.shop.example.com in all namespaces or of the cluster: 1 request, as in GET /apis/shop.example.com/v1/widgets?watch=true&timeoutSeconds=-1; granted in a namespace only
    // +kubebuilder:rbac:groups=shop.example.com,resources=widgets,verbs=watch
  patch widgets/status.shop.example.com in all namespaces or of the cluster: 1 request, as in PATCH /apis/shop.example.com/v1/namespaces/shop/widgets/web/status; granted in a namespace only
    // +kubebuilder:rbac:groups=shop.example.com,resources=widgets/status,verbs=patch
granted and never asked:
  DIR/role.yaml: Role manager-role: patch, delete widgets.shop.example.com
  DIR/role.yaml: Role manager-role: list, watch, delete widgets/status.shop.example.com
  DIR/role.yaml: Role manager-role: create *; asked: create secrets
  DIR/role.yaml: Role manager-role: create *.coordination.k8s.io; asked: create leases.coordination.k8s.io
  DIR/role.yaml: Role manager-role: get /metrics
`},
		{"only bound roles count", map[string]string{"role.yaml": `
kind: ClusterRole
metadata: {name: manager-role}
rules:
- {apiGroups: ["*"], resources: ["*"], verbs: ["*"]}
`, "binding.yaml": `
kind: ClusterRoleBinding
metadata: {name: manager}
roleRef: {kind: ClusterRole, name: manager-role}
subjects: [{kind: ServiceAccount, name: manager}]
`, "editor.yaml": `
kind: ClusterRole
metadata: {name: editor}
rules:
- {apiGroups: [shop.example.com], resources: [widgets], verbs: [delete]}
`}, `granted and never asked:
  DIR/role.yaml: ClusterRole manager-role: * *.*; asked: create leases.coordination.k8s.io, create secrets, list widgets.shop.example.com, patch widgets/status.shop.example.com, watch widgets.shop.example.com
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			roles, err := usage.ReadRoles(dir)
			require.NoError(t, err)
			c := u.Compare(roles)
			assert.Equal(t, tt.want, strings.ReplaceAll(c.Text(), dir, "DIR"))
		})
	}
}

// A user who may escalate or bind need not hold what a role grants.
func TestInstead(t *testing.T) {
	srv := start(t)
	newClient(t, srv).all(`POST /apis/rbac.authorization.k8s.io/v1/namespaces/stage/roles {metadata: {name: r}, rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]}`)
	write := usage.Rule{APIGroups: []string{"rbac.authorization.k8s.io"}, Resources: []string{"roles"}, Verbs: []string{"create"}}
	c := usage.Of(srv).Compare([]usage.Role{{Rules: []usage.Rule{write}}})
	require.Len(t, c.Missing, 1)
	assert.Equal(t, "get secrets in stage: 1 request, for a role that grants it, as in POST /apis/rbac.authorization.k8s.io/v1/namespaces/stage/roles", c.Missing[0].String())

	write.Verbs = append(write.Verbs, "escalate")
	c = usage.Of(srv).Compare([]usage.Role{{Rules: []usage.Rule{write}}})
	assert.Empty(t, c.Text())
}

// A client needs the permission to impersonate, and the user the one for the request. A refused
// request is one that was asked.
func TestImpersonate(t *testing.T) {
	srv := start(t)
	c := newClient(t, srv)
	c.as = "alice"
	c.all(`GET /api/v1/namespaces/stage/pods`)
	assert.Equal(t, "ClusterRole: impersonate users alice", brief(usage.Of(srv).Of(usage.Client{UserAgent: "manager/*"}).Roles("m")))
	assert.Equal(t, "Role stage: list pods", brief(usage.Of(srv).Of(usage.Client{User: "alice"}).Roles("m")))
}

func TestAdd(t *testing.T) {
	srv := start(t)
	newClient(t, srv).all("GET /api/v1/namespaces/stage/pods")
	one := usage.Of(srv)
	newClient(t, srv).all("GET /api/v1/namespaces/stage/pods\nPOST /api/v1/namespaces/stage/configmaps {metadata: {name: a}}")
	var b strings.Builder
	require.NoError(t, one.Write(&b))
	require.NoError(t, usage.Of(srv).Write(&b))
	u, err := usage.Read(strings.NewReader(b.String()))
	require.NoError(t, err)
	require.Len(t, u.Requests, 2)
	assert.EqualValues(t, 1, u.Requests[0].Count)
	assert.EqualValues(t, 3, u.Requests[1].Count)
}
