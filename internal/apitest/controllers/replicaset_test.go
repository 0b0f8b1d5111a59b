package controllers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

const nginxTemplate = `"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"nginx"}]}}`

// replicaKinds are the kinds that the controller serves.
var replicaKinds = []struct {
	resource, kind, controller, version, selector string
	terminating                                   string // a prefix of the status
}{
	{"replicasets", "ReplicaSet", "replicaset-controller", "apps/v1", `{"matchLabels":{"app":"web"}}`, " terminatingReplicas=0"},
	{"replicationcontrollers", "ReplicationController", "replicationcontroller-controller", "v1", `{"app":"web"}`, ""},
}

func TestReplicaSetScale(t *testing.T) {
	t.Parallel()
	for _, k := range replicaKinds {
		t.Run(k.resource, func(t *testing.T) {
			c := startWorkloads(t, k.controller)
			rs := c.Create(k.resource, `{"apiVersion":"`+k.version+`","kind":"`+k.kind+`","metadata":{"name":"web"},"spec":{"replicas":3,"selector":`+k.selector+`,`+nginxTemplate+`}}`)
			pods := c.Pods()
			require.Len(t, pods, 3)
			ref := object.List(pods[0], "metadata", "ownerReferences")[0]
			assert.Equal(t, map[string]any{
				"apiVersion": k.version, "kind": k.kind, "name": "web", "uid": object.String(rs, "metadata", "uid"),
				"controller": true, "blockOwnerDeletion": true,
			}, ref)
			assert.Equal(t, "web-", object.String(pods[0], "metadata", "generateName"))
			assert.Equal(t, "fullyLabeledReplicas=3 observedGeneration=1 replicas=3"+k.terminating, c.Status(k.resource, "web"))
			assert.Len(t, c.Events(k.kind, "web"), 3)
			assert.Contains(t, c.Events(k.kind, "web"), "Normal SuccessfulCreate: Created pod: "+pods[0].Name())

			c.Run()
			assert.Equal(t, "availableReplicas=3 fullyLabeledReplicas=3 observedGeneration=1 readyReplicas=3 replicas=3"+k.terminating, c.Status(k.resource, "web"))

			c.Patch(k.resource, "web", `{"spec":{"replicas":1}}`)
			require.Len(t, c.Living(), 1)
			assert.Contains(t, c.Status(k.resource, "web"), "replicas=1")
			if k.terminating != "" {
				assert.Contains(t, c.Status(k.resource, "web"), "terminatingReplicas=2")
			}
			assert.Len(t, c.Events(k.kind, "web"), 5, "and two SuccessfulDelete")

			c.Kill(c.Living()[0].Name())
			assert.Len(t, c.Living(), 1, "a lost Pod is replaced")
			c.End("Failed", 1, c.Living()[0].Name())
			assert.Len(t, c.Living(), 2, "so is one that has ended, which remains")
		})
	}
}

func replicaSet(replicas string) string {
	return `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web"},"spec":{"replicas":` + replicas +
		`,"selector":{"matchLabels":{"app":"web"}},` + nginxTemplate + `}}`
}

func TestReplicaSetFailure(t *testing.T) {
	t.Parallel()
	c := startWorkloads(t, "replicaset-controller")
	c.Put(`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q","namespace":"shop"},"spec":{"hard":{"pods":"2"}},"status":{"hard":{"pods":"2"},"used":{"pods":"0"}}}`)
	c.Create("replicasets", replicaSet("5"))
	assert.Len(t, c.Pods(), 2)
	conditions := c.Conditions("replicasets", "web")
	require.Len(t, conditions, 1)
	assert.Regexp(t, `^ReplicaFailure=True FailedCreate: pods "web-.*" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2$`, conditions[0])
	failed := 0
	for _, e := range c.Events("ReplicaSet", "web") {
		if strings.HasPrefix(e, "Warning") {
			failed++
			assert.Regexp(t, `^Warning FailedCreate: (\(combined from similar events\): )?Error creating: pods "web-.*" is forbidden: exceeded quota`, e)
		}
	}
	assert.NotZero(t, failed)

	c.Patch("resourcequotas", "q", `{"spec":{"hard":{"pods":"9"}}}`)
	c.PatchStatus("resourcequotas", "q", `{"status":{"hard":{"pods":"9"}}}`)
	c.Wait(time.Minute)
	assert.Len(t, c.Pods(), 5, "it tries again after a back-off")
	assert.Empty(t, c.Conditions("replicasets", "web"))
}

func TestReplicaSetAdoption(t *testing.T) {
	t.Parallel()
	c := startWorkloads(t, "replicaset-controller")
	c.Create("pods", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"stray","labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"nginx"}]}}`)
	c.Create("replicasets", replicaSet("2"))
	require.Len(t, c.Pods(), 2)
	assert.Equal(t, "ReplicaSet", object.String(object.List(c.Get("pods", "stray"), "metadata", "ownerReferences")[0].(map[string]any), "kind"))

	c.Patch("pods", "stray", `{"metadata":{"labels":{"app":"other"}}}`)
	assert.Len(t, c.Pods(), 3)
	assert.Empty(t, object.List(c.Get("pods", "stray"), "metadata", "ownerReferences"), "a Pod that does not match is released")

	c.Patch("pods", "stray", `{"metadata":{"labels":{"app":"web"}}}`)
	assert.Len(t, c.Living(), 2, "an adopted one is too many")
}

func TestReplicaSetDeletionRanking(t *testing.T) {
	t.Parallel()
	c := startWorkloads(t, "replicaset-controller")
	c.Create("replicasets", replicaSet("4"))
	names := namesOf(c.Pods())
	c.Run(names[1:]...)
	c.Patch("pods", names[2], `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-5"}}}`)
	c.Patch("replicasets", "web", `{"spec":{"replicas":3}}`)
	assert.Equal(t, names[1:], namesOf(c.Living()), "the pending Pod goes first")
	c.Patch("replicasets", "web", `{"spec":{"replicas":2}}`)
	assert.Equal(t, []string{names[1], names[3]}, namesOf(c.Living()), "then the one that costs the least")
}

func TestReplicaSetMinReadySeconds(t *testing.T) {
	t.Parallel()
	c := startWorkloads(t, "replicaset-controller")
	c.Create("replicasets", replicaSet(`1,"minReadySeconds":10`))
	c.Run()
	assert.Equal(t, "fullyLabeledReplicas=1 observedGeneration=1 readyReplicas=1 replicas=1 terminatingReplicas=0", c.Status("replicasets", "web"))
	c.Wait(9 * time.Second)
	assert.NotContains(t, c.Status("replicasets", "web"), "availableReplicas")
	c.Wait(time.Second)
	assert.Contains(t, c.Status("replicasets", "web"), "availableReplicas=1")
}

// A watch cache that lags shows fewer Pods than there are.
func TestReplicaSetExpectations(t *testing.T) {
	t.Parallel()
	c := startWorkloads(t, "replicaset-controller")
	require.NoError(t, c.SetLag("pods", fakeapi.Lag{Frozen: true}))
	c.Create("replicasets", replicaSet("3"))
	c.Patch("replicasets", "web", `{"metadata":{"labels":{"again":"true"}}}`)
	assert.Len(t, c.Pods(), 3)
	require.NoError(t, c.SetLag("pods", fakeapi.Lag{}))
	c.Settle()
	assert.Len(t, c.Pods(), 3)
	assert.Contains(t, c.Status("replicasets", "web"), "replicas=3")
}
