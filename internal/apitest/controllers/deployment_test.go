package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

const deploymentControllers = "deployment-controller,replicaset-controller"

func deployment(replicas int, spec string) string {
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":%d,"selector":{"matchLabels":{"app":"web"}},
		"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"nginx:1"}]}}%s}}`, replicas, spec)
}

// replicaSets returns the ReplicaSets in the order of their revisions: "1:3/2" is revision 1
// with three replicas of which two are ready.
func replicaSets(c workloads) (out []string) {
	c.t.Helper()
	all := c.List("replicasets")
	for _, rs := range all {
		n, _ := object.Int(rs, "spec", "replicas")
		ready, _ := object.Int(rs, "status", "readyReplicas")
		out = append(out, fmt.Sprintf("%s:%d/%d", object.String(rs, "metadata", "annotations", "deployment.kubernetes.io/revision"), n, ready))
	}
	slices.Sort(out)
	return out
}

func scalingReasons(events []string) (out []string) {
	for _, e := range events {
		before, _, _ := strings.Cut(e, " replica set")
		_, after, _ := strings.Cut(e, " from ")
		out = append(out, before+" "+after)
	}
	return out
}

func TestDeploymentRollingUpdate(t *testing.T) {
	t.Parallel()
	c := startWorkloads(t, deploymentControllers)
	c.Create("deployments", deployment(4, `,"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":1}}`))
	assert.Equal(t, []string{"1:4/0"}, replicaSets(c))
	assert.Equal(t, "observedGeneration=1 replicas=4 terminatingReplicas=0 unavailableReplicas=4 updatedReplicas=4", c.Status("deployments", "web"))
	rs := c.List("replicasets")
	assert.Equal(t, []string{
		"Available=False MinimumReplicasUnavailable: Deployment does not have minimum availability.",
		`Progressing=True ReplicaSetUpdated: ReplicaSet "` + rs[0].Name() + `" is progressing.`,
	}, c.Conditions("deployments", "web"))
	assert.Equal(t, map[string]any{
		"deployment.kubernetes.io/revision": "1", "deployment.kubernetes.io/desired-replicas": "4", "deployment.kubernetes.io/max-replicas": "5",
	}, object.Map(rs[0], "metadata", "annotations"))
	hash := object.String(rs[0], "metadata", "labels", "pod-template-hash")
	assert.Equal(t, "web-"+hash, rs[0].Name())
	assert.Equal(t, hash, object.String(rs[0], "spec", "selector", "matchLabels", "pod-template-hash"))
	assert.Equal(t, hash, object.String(rs[0], "spec", "template", "metadata", "labels", "pod-template-hash"))

	c.Run()
	assert.Equal(t, "availableReplicas=4 observedGeneration=1 readyReplicas=4 replicas=4 terminatingReplicas=0 updatedReplicas=4", c.Status("deployments", "web"))
	assert.Equal(t, []string{
		"Available=True MinimumReplicasAvailable: Deployment has minimum availability.",
		`Progressing=True NewReplicaSetAvailable: ReplicaSet "` + rs[0].Name() + `" has successfully progressed.`,
	}, c.Conditions("deployments", "web"))
	assert.Equal(t, "1", object.String(c.Get("deployments", "web"), "metadata", "annotations", "deployment.kubernetes.io/revision"))

	c.Patch("deployments", "web", withImage("nginx:2"))
	assert.Equal(t, []string{"1:3/3", "2:2/0"}, replicaSets(c), "one more than four, three are available")
	c.Run()
	assert.Equal(t, []string{"1:1/1", "2:4/2"}, replicaSets(c))
	c.RunAll()
	assert.Equal(t, []string{"1:0/0", "2:4/4"}, replicaSets(c))
	assert.Equal(t, []string{
		"Normal ScalingReplicaSet: Scaled up 0 to 4", "Normal ScalingReplicaSet: Scaled up 0 to 1", "Normal ScalingReplicaSet: Scaled down 4 to 3",
		"Normal ScalingReplicaSet: Scaled up 1 to 2", "Normal ScalingReplicaSet: Scaled down 3 to 1", "Normal ScalingReplicaSet: Scaled up 2 to 4",
		"Normal ScalingReplicaSet: Scaled down 1 to 0",
	}, scalingReasons(c.Events("Deployment", "web")))

	c.Patch("deployments", "web", withImage("nginx:1"))
	c.RunAll()
	assert.Equal(t, []string{"2:0/0", "3:4/4"}, replicaSets(c), "the first template gets a new revision")
	assert.Equal(t, "1", object.String(c.Get("replicasets", rs[0].Name()), "metadata", "annotations", "deployment.kubernetes.io/revision-history"))
}

func TestDeploymentRecreate(t *testing.T) {
	t.Parallel()
	c := startWorkloads(t, deploymentControllers)
	c.Create("deployments", deployment(2, `,"strategy":{"type":"Recreate"}`))
	c.RunAll()
	c.Patch("deployments", "web", withImage("nginx:2"))
	assert.Equal(t, []string{"1:0/0"}, replicaSets(c), "no new Pod while old ones run")
	c.Reap()
	assert.Equal(t, []string{"1:0/0", "2:2/0"}, replicaSets(c))
}

func TestDeploymentRollback(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, to, image, event string }{
		{"revision", "1", "nginx:1", `Normal DeploymentRollback: Rolled back deployment "web" to revision 1`},
		{"last", "0", "nginx:2", `Normal DeploymentRollback: Rolled back deployment "web" to revision 2`},
		{"absent", "9", "nginx:3", `Warning DeploymentRollbackRevisionNotFound: Unable to find the revision to rollback to.`},
		{"same", "3", "nginx:3", `Warning DeploymentRollbackTemplateUnchanged: The rollback revision contains the same template as current deployment "web"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := startWorkloads(t, deploymentControllers)
			c.Create("deployments", deployment(1, ""))
			c.RunAll()
			for _, v := range []string{"nginx:2", "nginx:3"} {
				c.Patch("deployments", "web", withImage(v))
				c.RunAll()
			}
			c.Patch("deployments", "web", `{"metadata":{"annotations":{"deprecated.deployment.rollback.to":"`+tt.to+`"}}}`)
			d := c.Get("deployments", "web")
			assert.Equal(t, tt.image, object.List(d, "spec", "template", "spec", "containers")[0].(map[string]any)["image"])
			assert.NotContains(t, object.Map(d, "metadata", "annotations"), "deprecated.deployment.rollback.to")
			assert.Contains(t, c.Events("Deployment", "web"), tt.event)
		})
	}
}

func TestDeploymentProgressDeadline(t *testing.T) {
	t.Parallel()
	c := startWorkloads(t, deploymentControllers)
	c.Create("deployments", deployment(1, `,"progressDeadlineSeconds":60`))
	c.Wait(59 * time.Second)
	assert.Contains(t, c.Conditions("deployments", "web")[1], "Progressing=True")
	c.Wait(3 * time.Second)
	assert.Regexp(t, `^Progressing=False ProgressDeadlineExceeded: ReplicaSet "web-.*" has timed out progressing.$`, c.Conditions("deployments", "web")[1])
	c.Run()
	assert.Contains(t, c.Conditions("deployments", "web")[1], "Progressing=True NewReplicaSetAvailable")
}

func TestDeploymentPause(t *testing.T) {
	t.Parallel()
	c := startWorkloads(t, deploymentControllers)
	c.Create("deployments", deployment(2, ""))
	c.RunAll()
	c.Patch("deployments", "web", `{"spec":{"paused":true}}`)
	assert.Contains(t, c.Conditions("deployments", "web"), "Progressing=Unknown DeploymentPaused: Deployment is paused")
	c.Patch("deployments", "web", withImage("nginx:2"))
	assert.Equal(t, []string{"1:2/2"}, replicaSets(c), "no rollout")
	c.Patch("deployments", "web", `{"spec":{"replicas":3}}`)
	c.RunAll()
	assert.Equal(t, []string{"1:3/3"}, replicaSets(c), "it scales")
	c.Patch("deployments", "web", `{"spec":{"paused":false}}`)
	c.RunAll()
	assert.Equal(t, []string{"1:0/0", "2:3/3"}, replicaSets(c))
}

// A Deployment that is scaled in the middle of a rollout keeps the proportions of its
// ReplicaSets.
func TestDeploymentProportionalScaling(t *testing.T) {
	t.Parallel()
	c := startWorkloads(t, deploymentControllers)
	c.Create("deployments", deployment(10, `,"strategy":{"rollingUpdate":{"maxSurge":3,"maxUnavailable":2}}`))
	c.RunAll()
	c.Patch("deployments", "web", withImage("nginx:2"))
	require.Equal(t, []string{"1:8/8", "2:5/0"}, replicaSets(c))
	c.Patch("deployments", "web", `{"spec":{"replicas":15}}`)
	assert.Equal(t, []string{"1:11/8", "2:7/0"}, replicaSets(c))
}

func TestDeploymentHistoryLimit(t *testing.T) {
	t.Parallel()
	c := startWorkloads(t, deploymentControllers)
	c.Create("deployments", deployment(1, `,"revisionHistoryLimit":1`))
	c.RunAll()
	for _, v := range []string{"nginx:2", "nginx:3", "nginx:4"} {
		c.Patch("deployments", "web", withImage(v))
		c.RunAll()
	}
	assert.Equal(t, []string{"3:0/0", "4:1/1"}, replicaSets(c))
}

func TestDeploymentCollision(t *testing.T) {
	t.Parallel()
	c := startWorkloads(t, deploymentControllers)
	c.Create("deployments", deployment(1, `,"paused":true`))
	c.Patch("deployments", "web", `{"spec":{"paused":false}}`)
	rs := c.List("replicasets")
	require.Len(t, rs, 1)
	name := rs[0].Name()

	c = startWorkloads(t, deploymentControllers)
	c.Create("replicasets", `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"`+name+`"},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"x"}},
		"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"x"}]}}}}`)
	c.Create("deployments", deployment(1, ""))
	c.Wait(time.Second)
	assert.Contains(t, c.Status("deployments", "web"), "collisionCount=1")
	assert.Len(t, c.Pods(), 1)
}

func TestDeploymentReplicaFailure(t *testing.T) {
	t.Parallel()
	c := startWorkloads(t, deploymentControllers)
	c.Put(`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q","namespace":"shop"},"spec":{"hard":{"pods":"1"}},"status":{"hard":{"pods":"1"},"used":{"pods":"0"}}}`)
	c.Create("deployments", deployment(2, ""))
	conditions := c.Conditions("deployments", "web")
	require.Len(t, conditions, 3)
	assert.Regexp(t, `^ReplicaFailure=True FailedCreate: pods "web-.*" is forbidden: exceeded quota`, conditions[2])
}

// 1,000 Deployments of 3 Pods become ready. Without a scheduler and a kubelet it is the
// test that makes Pods ready.
func BenchmarkDeployments(b *testing.B) {
	for range b.N {
		b.StopTimer()
		c := fakeapi.Start(b, fakeapi.WithControllers(deploymentControllers), fakeapi.WithManualClock(startTime), fakeapi.WithSeed(1), fakeapi.WithNamespaces("shop"))
		_, err := c.Store(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default","namespace":"shop"}}`)
		require.NoError(b, err)
		putDeployments(b, c)
		before := c.Revision()
		b.StartTimer()
		require.NoError(b, c.Settle(context.Background()))
		b.StopTimer()
		pods, err := c.List("pods", "")
		require.NoError(b, err)
		require.Len(b, pods, 3000)
		for _, pod := range pods {
			object.Set(pod, map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}}}, "status")
			_, err := c.Store(pod)
			require.NoError(b, err)
		}
		b.StartTimer()
		require.NoError(b, c.Settle(context.Background()))
		b.StopTimer()
		requireAvailable(b, c)
		b.ReportMetric(float64(c.Revision()-before), "writes/op")
		c.Close()
	}
}

// 1,000 Deployments of 3 Pods become ready in one Settle, with all controllers.
func BenchmarkDeploymentsAllControllers(b *testing.B) {
	for range b.N {
		b.StopTimer()
		c := fakeapi.Start(b, fakeapi.WithControllers("*"), fakeapi.WithManualClock(startTime), fakeapi.WithSeed(1), fakeapi.WithNamespaces("shop"))
		require.NoError(b, c.Settle(context.Background()))
		putDeployments(b, c)
		before := c.Revision()
		b.StartTimer()
		require.NoError(b, c.Settle(context.Background()))
		b.StopTimer()
		requireAvailable(b, c)
		b.ReportMetric(float64(c.Revision()-before), "writes/op")
		c.Close()
	}
}

// putDeployments creates 1,000 Deployments of 3 Pods.
func putDeployments(b *testing.B, c *fakeapi.Server) {
	const defaults = `,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}},"progressDeadlineSeconds":600,"revisionHistoryLimit":10`
	for i := range 1000 {
		_, err := c.Store(strings.ReplaceAll(strings.Replace(deployment(3, defaults),
			`"name":"web"`, fmt.Sprintf(`"name":"web-%d","namespace":"shop"`, i), 1), `"app":"web"`, fmt.Sprintf(`"app":"web-%d"`, i)))
		require.NoError(b, err)
	}
}

func requireAvailable(b *testing.B, c *fakeapi.Server) {
	ready, err := c.List("deployments", "")
	require.NoError(b, err)
	require.Len(b, ready, 1000)
	for _, d := range ready {
		n, _ := object.Int(d, "status", "availableReplicas")
		require.EqualValues(b, 3, n)
	}
}
