package release

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

// Gates add rules to roles, at their places, and roles with bindings.
func TestGatedRoles(t *testing.T) {
	release, err := Open("1.36")
	require.NoError(t, err)
	objects := func(gates map[string]bool) map[string]BootstrapObject {
		r, err := release.WithGates(gates)
		require.NoError(t, err)
		out := map[string]BootstrapObject{}
		for o := range r.BootstrapObjects() {
			out[o.Resource+"/"+o.Name] = o
		}
		return out
	}
	plain, all := objects(nil), objects(map[string]bool{"AllAlpha": true, "AllBeta": true})

	list := func(o BootstrapObject, field string) (texts []string) {
		if o.JSON == "" {
			return nil // the gate is off
		}
		obj := decoded(t, o.JSON)
		assert.Equal(t, o.Name, object.String(obj, "metadata", "name"))
		for _, element := range object.List(obj, field) {
			text, err := json.Marshal(element)
			require.NoError(t, err)
			texts = append(texts, string(text))
		}
		return texts
	}
	for _, rule := range gatedRules {
		if gateOf(36, rule.gate) == nil || !rule.in.has(36) {
			continue
		}
		name := "clusterroles/" + rule.role
		text, err := json.Marshal(decoded(t, rule.JSON()))
		require.NoError(t, err)
		assert.NotContains(t, list(plain[name], "rules"), string(text), rule.gate)
		assert.Contains(t, list(all[name], "rules"), string(text), rule.gate)
		if binding := "clusterrolebindings/" + rule.role; plain[name].JSON == "" {
			assert.Empty(t, plain[binding])
			assert.Len(t, list(all[binding], "subjects"), 1)
		}
	}
	node := list(all["clusterroles/system:node"], "rules")
	assert.Contains(t, node[24], `"clustertrustbundles"`)
	assert.Contains(t, node[26], `"podcertificaterequests"`)
	assert.Equal(t, BootstrapUID("/clusterroles.rbac.authorization.k8s.io/system:node"), object.String(decoded(t, plain["clusterroles/system:node"].JSON), "metadata", "uid"))
	assert.Equal(t, plain["clusterroles/admin"], all["clusterroles/admin"])
}

// Rules of gates in a release with others, whose gates are partly on by default.
func TestGatedRolesOfNewest(t *testing.T) {
	r, err := Open("1.37")
	require.NoError(t, err)
	r, err = r.WithGates(map[string]bool{"AllAlpha": true, "AllBeta": true})
	require.NoError(t, err)
	rules := map[string][]any{}
	for o := range r.BootstrapObjects() {
		if o.Resource == "clusterroles" {
			rules[o.Name] = object.List(decoded(t, o.JSON), "rules")
		}
	}
	assert.Equal(t, []any{"csinodes/status"}, rules["system:node"][21].(map[string]any)["resources"])
	assert.Len(t, rules["system:node"], 28)
	assert.Len(t, rules["system:kube-scheduler"], 32)
	assert.Equal(t, []any{"compositepodgroups/status"}, rules["system:kube-scheduler"][31].(map[string]any)["resources"])
	assert.Len(t, rules["system:controller:resourcepoolstatusrequest-controller"], 6)
	assert.Len(t, rules["system:cluster-trust-bundle-discovery"], 1, "its gate is on by default")
}

func decoded(t *testing.T, text string) (obj map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &obj))
	return obj
}
