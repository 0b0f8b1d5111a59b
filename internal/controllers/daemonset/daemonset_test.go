package daemonset_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/controllers/workloadtest"
	"github.com/kubefake/kubefake/internal/object"
)

// start starts a cluster with Nodes and a DaemonSet.
func start(t *testing.T, nodes int, spec, podSpec string) *workloadtest.Cluster {
	t.Helper()
	c := workloadtest.Start(t, "daemonset-controller")
	for i := range nodes {
		addNode(c, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n%d","labels":{"disk":"ssd"}}}`, i))
	}
	c.Create("daemonsets", `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"log"},"spec":{"selector":{"matchLabels":{"app":"log"}},
		"template":{"metadata":{"labels":{"app":"log"}},"spec":{`+podSpec+`"containers":[{"name":"c","image":"log:1"}]}}`+spec+`}}`)
	return c
}

// addNode adds a Node that is ready: kube-apiserver taints one that a client creates.
func addNode(c *workloadtest.Cluster, json string) {
	if _, err := c.Store(json); err != nil {
		panic(err)
	}
	c.Settle()
}

func target(pod fakeapi.Object) string {
	terms := object.List(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	field := object.List(terms[0].(map[string]any), "matchFields")[0].(map[string]any)
	return object.Strings(field, "values")[0]
}

// run binds the pending Pods to their Nodes and makes them ready.
func run(c *workloadtest.Cluster) {
	for _, pod := range c.Living() {
		if object.String(pod, "status", "phase") == "Pending" {
			c.RunOn(target(pod), pod.Name())
		}
	}
}

// runAll is run until nothing changes.
func runAll(c *workloadtest.Cluster) {
	for before := int64(-1); before != c.Revision(); {
		before = c.Revision()
		run(c)
		c.Reap()
	}
}

// images returns the number of Pods by image that are not being deleted.
func images(c *workloadtest.Cluster) map[string]int {
	out := map[string]int{}
	for _, pod := range c.Living() {
		out[object.String(object.List(pod, "spec", "containers")[0].(map[string]any), "image")]++
	}
	return out
}

const image2 = `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"log:2"}]}}}}`

func TestNodes(t *testing.T) {
	c := start(t, 2, "", "")
	require.Len(t, c.Pods(), 2)
	pod := c.Pods()[0]
	var keys []string
	for tol := range object.Each(object.Value(pod, "spec", "tolerations")) {
		keys = append(keys, object.String(tol, "key"))
	}
	assert.Contains(t, keys, "node.kubernetes.io/unschedulable")
	assert.NotContains(t, keys, "node.kubernetes.io/network-unavailable")
	assert.Equal(t, "1", object.String(pod, "metadata", "labels", "pod-template-generation"))
	assert.Equal(t, "currentNumberScheduled=2 desiredNumberScheduled=2 numberMisscheduled=0 numberReady=0 numberUnavailable=2 observedGeneration=1 updatedNumberScheduled=2",
		c.Status("daemonsets", "log"))
	run(c)
	assert.Equal(t, "currentNumberScheduled=2 desiredNumberScheduled=2 numberAvailable=2 numberMisscheduled=0 numberReady=2 observedGeneration=1 updatedNumberScheduled=2",
		c.Status("daemonsets", "log"))
	assert.Len(t, c.Events("DaemonSet", "log"), 2)

	addNode(c, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"}}`)
	assert.Len(t, c.Pods(), 3)
	c.Patch("nodes", "n0", `{"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}}`)
	assert.Len(t, c.Living(), 2, "a Pod does not remain on a Node that evicts it")
	c.Patch("nodes", "n1", `{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`)
	c.Patch("daemonsets", "log", `{"metadata":{"labels":{"again":"true"}}}`)
	assert.Len(t, c.Living(), 2, "it does where no new one could go")
	assert.Contains(t, c.Status("daemonsets", "log"), "numberMisscheduled=")
}

func TestSelection(t *testing.T) {
	c := start(t, 1, "", `"nodeSelector":{"disk":"ssd"},"tolerations":[{"key":"a","operator":"Exists"}],`)
	addNode(c, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"other"}}`)
	addNode(c, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"tainted","labels":{"disk":"ssd"}},"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`)
	require.Len(t, c.Pods(), 2)
	targets := []string{target(c.Pods()[0]), target(c.Pods()[1])}
	assert.ElementsMatch(t, []string{"n0", "tainted"}, targets)
	c.Patch("nodes", "n0", `{"metadata":{"labels":{"disk":"hdd"}}}`)
	require.Len(t, c.Living(), 1)
}

func TestRollingUpdate(t *testing.T) {
	c := start(t, 3, `,"updateStrategy":{"rollingUpdate":{"maxUnavailable":1}}`, "")
	runAll(c)
	c.Patch("daemonsets", "log", image2)
	assert.Equal(t, map[string]int{"log:1": 2}, images(c), "one Pod at a time")
	c.Reap()
	assert.Equal(t, map[string]int{"log:1": 2, "log:2": 1}, images(c))
	assert.Contains(t, c.Status("daemonsets", "log"), "updatedNumberScheduled=1")
	runAll(c)
	assert.Equal(t, map[string]int{"log:2": 3}, images(c))
	revisions, err := c.List("controllerrevisions", "shop")
	require.NoError(t, err)
	assert.Len(t, revisions, 2)
}

func TestSurge(t *testing.T) {
	c := start(t, 2, `,"updateStrategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}}`, "")
	runAll(c)
	c.Patch("daemonsets", "log", image2)
	assert.Equal(t, map[string]int{"log:1": 2, "log:2": 1}, images(c), "the new Pod comes first")
	run(c)
	assert.Equal(t, 1, images(c)["log:1"])
	runAll(c)
	assert.Equal(t, map[string]int{"log:2": 2}, images(c))
}

func TestOnDeleteAndHistory(t *testing.T) {
	c := start(t, 1, `,"updateStrategy":{"type":"OnDelete"},"revisionHistoryLimit":0`, "")
	runAll(c)
	c.Patch("daemonsets", "log", image2)
	runAll(c)
	assert.Equal(t, map[string]int{"log:1": 1}, images(c))
	revisions, err := c.List("controllerrevisions", "shop")
	require.NoError(t, err)
	assert.Len(t, revisions, 2, "a revision that a Pod has remains")
	c.Kill(c.Pods()[0].Name())
	assert.Equal(t, map[string]int{"log:2": 1}, images(c))
	revisions, err = c.List("controllerrevisions", "shop")
	require.NoError(t, err)
	assert.Len(t, revisions, 1)
}

func TestFailedPods(t *testing.T) {
	c := start(t, 1, "", "")
	fail := func() string {
		run(c)
		name := c.Living()[0].Name()
		c.End("Failed", 1, name)
		c.Reap()
		return name
	}
	first := fail()
	require.Len(t, c.Living(), 1)
	assert.NotEqual(t, first, c.Living()[0].Name(), "a failed Pod is replaced")
	assert.Contains(t, c.Events("DaemonSet", "log"), "Warning FailedDaemonPod: Found failed daemon pod shop/"+first+" on node n0, will try to kill it")
	second := fail()
	assert.Equal(t, second, c.Living()[0].Name(), "the next one after a back-off")
	c.Advance(time.Second)
	c.Reap()
	assert.NotEqual(t, second, c.Living()[0].Name())
}
