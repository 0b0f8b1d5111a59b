package clusterroleaggregation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/controllers/controllertest"
)

func TestAggregation(t *testing.T) {
	const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	srv := controllertest.Start(t, "clusterrole-aggregation-controller")
	rules := func(name string) any {
		controllertest.Settle(t, srv)
		o, err := srv.Get("clusterroles", "", name)
		require.NoError(t, err)
		return o["rules"]
	}
	rule := func(resource string) map[string]any {
		return map[string]any{"apiGroups": []any{"example.com"}, "resources": []any{resource}, "verbs": []any{"get"}}
	}
	controllertest.Do(t, srv, "POST", roles, `{"metadata":{"name":"all"},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"1"}},{"matchLabels":{"a":"2"}}]}}`)
	assert.Nil(t, rules("all"), "nothing is selected")

	controllertest.Do(t, srv, "POST", roles, `{"metadata":{"name":"z","labels":{"a":"1"}},"rules":[{"apiGroups":["example.com"],"resources":["x"],"verbs":["get"]},{"apiGroups":["example.com"],"resources":["y"],"verbs":["get"]}]}`)
	controllertest.Do(t, srv, "POST", roles, `{"metadata":{"name":"b","labels":{"a":"2"}},"rules":[{"apiGroups":["example.com"],"resources":["y"],"verbs":["get"]},{"apiGroups":["example.com"],"resources":["w"],"verbs":["get"]}]}`)
	assert.Equal(t, []any{rule("x"), rule("y"), rule("w")}, rules("all"), "in the order of selectors and names, each once")

	controllertest.Do(t, srv, "PATCH", roles+"/z", `{"metadata":{"labels":{"a":"3"}}}`)
	assert.Equal(t, []any{rule("y"), rule("w")}, rules("all"))
	controllertest.Delete(t, srv, roles+"/b", "")
	assert.Nil(t, rules("all"))

	assert.NotEmpty(t, rules("admin"), "the roles of the server are aggregated")
	revision := srv.Revision()
	controllertest.Settle(t, srv)
	assert.Equal(t, revision, srv.Revision(), "nothing is written twice")
}
