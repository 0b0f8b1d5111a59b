package controllers_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClusterRoleAggregation(t *testing.T) {
	t.Parallel()
	const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	c := startCluster(t, "clusterrole-aggregation-controller")
	rules := func(name string) any {
		c.Settle()
		o := c.Get("clusterroles", "", name)
		require.NotNil(t, o)
		return o["rules"]
	}
	rule := func(resource string) map[string]any {
		return map[string]any{"apiGroups": []any{"example.com"}, "resources": []any{resource}, "verbs": []any{"get"}}
	}
	c.Do("POST", roles, `{"metadata":{"name":"all"},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"1"}},{"matchLabels":{"a":"2"}}]}}`)
	assert.Nil(t, rules("all"), "nothing is selected")

	c.Do("POST", roles, `{"metadata":{"name":"z","labels":{"a":"1"}},"rules":[{"apiGroups":["example.com"],"resources":["x"],"verbs":["get"]},{"apiGroups":["example.com"],"resources":["y"],"verbs":["get"]}]}`)
	c.Do("POST", roles, `{"metadata":{"name":"b","labels":{"a":"2"}},"rules":[{"apiGroups":["example.com"],"resources":["y"],"verbs":["get"]},{"apiGroups":["example.com"],"resources":["w"],"verbs":["get"]}]}`)
	assert.Equal(t, []any{rule("x"), rule("y"), rule("w")}, rules("all"), "in the order of selectors and names, each once")

	c.MergePatch(roles+"/z", `{"metadata":{"labels":{"a":"3"}}}`)
	assert.Equal(t, []any{rule("y"), rule("w")}, rules("all"))
	c.Delete(roles + "/b")
	assert.Nil(t, rules("all"))

	assert.NotEmpty(t, rules("admin"), "the roles of the server are aggregated")
	revision := c.Revision()
	c.Settle()
	assert.Equal(t, revision, c.Revision(), "nothing is written twice")
}
