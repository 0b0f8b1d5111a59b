package objects_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

const (
	flowSchemas    = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
	priorityLevels = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"
)

// The condition Dangling of a FlowSchema says whether its priority level exists, after every
// write.
func TestDanglingFlowSchemas(t *testing.T) {
	const (
		found    = `This FlowSchema references the PriorityLevelConfiguration object named "p" and it exists`
		notFound = `This FlowSchema references the PriorityLevelConfiguration object named "p" but there is no such object`
	)
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	var transition any
	for _, tt := range []struct {
		name, method, path, body string
		status, reason, message  string
		changed                  bool // the condition has a new time
	}{
		{"without a priority level", "POST", flowSchemas, `{"metadata":{"name":"a"},"spec":{"priorityLevelConfiguration":{"name":"p"}}}`, "True", "NotFound", notFound, true},
		{"unrelated change", "PATCH", flowSchemas + "/a", `{"metadata":{"labels":{"a":"b"}}}`, "True", "NotFound", notFound, false},
		{"new priority level", "POST", priorityLevels, `{"metadata":{"name":"p"},"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}}}`, "False", "Found", found, true},
		{"changed condition", "PATCH", flowSchemas + "/a/status", `{"status":{"conditions":[{"type":"Dangling","status":"True"}]}}`, "False", "Found", found, true},
		{"removed condition", "PATCH", flowSchemas + "/a/status", `{"status":{"conditions":null}}`, "False", "Found", found, true},
		{"dry run", "DELETE", priorityLevels + "/p?dryRun=All", "", "False", "Found", found, false},
		{"removed priority level", "DELETE", priorityLevels + "/p", "", "True", "NotFound", notFound, true},
		{"another priority level", "PATCH", flowSchemas + "/a", `{"spec":{"priorityLevelConfiguration":{"name":"exempt"}}}`, "False", "Found",
			`This FlowSchema references the PriorityLevelConfiguration object named "exempt" and it exists`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, srv.Clock().Advance(time.Second))
			code, _ := apitest.Do(t, srv, tt.method, tt.path, tt.body)
			require.Less(t, code, 300)
			_, obj := apitest.Do(t, srv, "GET", flowSchemas+"/a", "")
			condition := obj["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)
			assert.Equal(t, []any{"Dangling", tt.status, tt.reason, tt.message}, []any{condition["type"], condition["status"], condition["reason"], condition["message"]})
			assert.Equal(t, tt.changed, condition["lastTransitionTime"] != transition)
			transition = condition["lastTransitionTime"]
			managed := obj["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)
			assert.Equal(t, []any{"api-priority-and-fairness-config-consumer-v1", "Apply", "status"}, []any{managed["manager"], managed["operation"], managed["subresource"]})
		})
	}
}

// The server's own FlowSchemas and priority levels are restored a minute after a write.
func TestFlowSchemasAreRepaired(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const mine = `{"metadata":{"name":"mine","annotations":{"apf.kubernetes.io/autoupdate-spec":"true"}},"spec":{"priorityLevelConfiguration":{"name":"exempt"}}}`
	rows := []struct {
		name, method, path, body string
		soon, later              any // the matchingPrecedence or the type; nil if it is missing
	}{
		{"removed FlowSchema", "DELETE", flowSchemas + "/catch-all", "", nil, float64(10000)},
		{"changed FlowSchema", "PATCH", flowSchemas + "/probes", `{"spec":{"matchingPrecedence":7}}`, float64(7), float64(2)},
		{"FlowSchema that a user has taken over", "PATCH", flowSchemas + "/global-default", `{"metadata":{"annotations":{"apf.kubernetes.io/autoupdate-spec":"false"}},"spec":{"matchingPrecedence":8888}}`, float64(8888), float64(8888)},
		{"FlowSchema marked as the server's", "POST", flowSchemas + "/mine", mine, float64(1000), nil},
		{"removed priority level", "DELETE", priorityLevels + "/workload-low", "", nil, "Limited"},
	}
	check := func(t *testing.T, want func(i int) any) {
		for i, tt := range rows {
			t.Run(tt.name, func(t *testing.T) {
				_, obj := apitest.Do(t, srv, "GET", tt.path, "")
				spec, _ := obj["spec"].(map[string]any)
				got := spec["matchingPrecedence"]
				if got == nil {
					got = spec["type"]
				}
				assert.Equal(t, want(i), got)
			})
		}
	}
	for _, tt := range rows {
		path := tt.path
		if tt.method == "POST" {
			path = flowSchemas
		}
		code, _ := apitest.Do(t, srv, tt.method, path, tt.body)
		require.Less(t, code, 300)
	}
	check(t, func(i int) any { return rows[i].soon })
	fork := srv.Fork(t)
	require.NoError(t, srv.Clock().Advance(time.Minute))
	check(t, func(i int) any { return rows[i].later })

	require.NoError(t, fork.Clock().Advance(time.Minute))
	code, _ := apitest.Do(t, fork, "GET", flowSchemas+"/catch-all", "")
	assert.Equal(t, 200, code)
}
