package controllers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

// startDaemonSet starts a cluster with Nodes and a DaemonSet.
func startDaemonSet(t *testing.T, nodes int, spec, podSpec string) workloads {
	t.Helper()
	c := startWorkloads(t, "daemonset-controller")
	for i := range nodes {
		addNode(c, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n%d","labels":{"disk":"ssd"}}}`, i))
	}
	c.Create("daemonsets", `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"log"},"spec":{"selector":{"matchLabels":{"app":"log"}},
		"template":{"metadata":{"labels":{"app":"log"}},"spec":{`+podSpec+`"containers":[{"name":"c","image":"log:1"}]}}`+spec+`}}`)
	return c
}

// addNode adds a Node that is ready: kube-apiserver taints one that a client creates.
func addNode(c workloads, json string) {
	c.Put(json)
	c.Settle()
}

func targetNode(pod fakeapi.Object) string {
	terms := object.List(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	field := object.List(terms[0].(map[string]any), "matchFields")[0].(map[string]any)
	return object.Strings(field, "values")[0]
}

// runDaemons binds the pending Pods to their Nodes and makes them ready.
func runDaemons(c workloads) {
	for _, pod := range c.Living() {
		if object.String(pod, "status", "phase") == "Pending" {
			c.RunOn(targetNode(pod), pod.Name())
		}
	}
}

// runAllDaemons is runDaemons until nothing changes.
func runAllDaemons(c workloads) {
	for before := int64(-1); before != c.Revision(); {
		before = c.Revision()
		runDaemons(c)
		c.Reap()
	}
}

// podsByImage returns the number of Pods by image that are not being deleted.
func podsByImage(c workloads) map[string]int {
	out := map[string]int{}
	for _, pod := range c.Living() {
		out[object.String(object.List(pod, "spec", "containers")[0].(map[string]any), "image")]++
	}
	return out
}

func TestDaemonSetNodes(t *testing.T) {
	t.Parallel()
	c := startDaemonSet(t, 2, "", "")
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
	runDaemons(c)
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

func TestDaemonSetSelection(t *testing.T) {
	t.Parallel()
	c := startDaemonSet(t, 1, "", `"nodeSelector":{"disk":"ssd"},"tolerations":[{"key":"a","operator":"Exists"}],`)
	addNode(c, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"other"}}`)
	addNode(c, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"tainted","labels":{"disk":"ssd"}},"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`)
	require.Len(t, c.Pods(), 2)
	targets := []string{targetNode(c.Pods()[0]), targetNode(c.Pods()[1])}
	assert.ElementsMatch(t, []string{"n0", "tainted"}, targets)
	c.Patch("nodes", "n0", `{"metadata":{"labels":{"disk":"hdd"}}}`)
	require.Len(t, c.Living(), 1)
}

func TestDaemonSetRollingUpdate(t *testing.T) {
	t.Parallel()
	c := startDaemonSet(t, 3, `,"updateStrategy":{"rollingUpdate":{"maxUnavailable":1}}`, "")
	runAllDaemons(c)
	c.Patch("daemonsets", "log", withImage("log:2"))
	assert.Equal(t, map[string]int{"log:1": 2}, podsByImage(c), "one Pod at a time")
	c.Reap()
	assert.Equal(t, map[string]int{"log:1": 2, "log:2": 1}, podsByImage(c))
	assert.Contains(t, c.Status("daemonsets", "log"), "updatedNumberScheduled=1")
	runAllDaemons(c)
	assert.Equal(t, map[string]int{"log:2": 3}, podsByImage(c))
	assert.Len(t, c.List("controllerrevisions"), 2)
}

func TestDaemonSetSurge(t *testing.T) {
	t.Parallel()
	c := startDaemonSet(t, 2, `,"updateStrategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}}`, "")
	runAllDaemons(c)
	c.Patch("daemonsets", "log", withImage("log:2"))
	assert.Equal(t, map[string]int{"log:1": 2, "log:2": 1}, podsByImage(c), "the new Pod comes first")
	runDaemons(c)
	assert.Equal(t, 1, podsByImage(c)["log:1"])
	runAllDaemons(c)
	assert.Equal(t, map[string]int{"log:2": 2}, podsByImage(c))
}

func TestDaemonSetOnDeleteAndHistory(t *testing.T) {
	t.Parallel()
	c := startDaemonSet(t, 1, `,"updateStrategy":{"type":"OnDelete"},"revisionHistoryLimit":0`, "")
	runAllDaemons(c)
	c.Patch("daemonsets", "log", withImage("log:2"))
	runAllDaemons(c)
	assert.Equal(t, map[string]int{"log:1": 1}, podsByImage(c))
	assert.Len(t, c.List("controllerrevisions"), 2, "a revision that a Pod has remains")
	c.Kill(c.Pods()[0].Name())
	assert.Equal(t, map[string]int{"log:2": 1}, podsByImage(c))
	assert.Len(t, c.List("controllerrevisions"), 1)
}

func TestDaemonSetFailedPods(t *testing.T) {
	t.Parallel()
	c := startDaemonSet(t, 1, "", "")
	fail := func() string {
		runDaemons(c)
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
	c.Wait(time.Second)
	c.Reap()
	assert.NotEqual(t, second, c.Living()[0].Name())
}
