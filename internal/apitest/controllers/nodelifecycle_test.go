package controllers_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

func linuxNode(name, labels string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {kubernetes.io/os: linux%s}}}", name, labels)
}

// nodeTaints returns the taints of a Node as "KEY:EFFECT", sorted.
func nodeTaints(c cluster, node string) []string {
	out := []string{}
	for t := range object.Each(object.Value(c.Get("nodes", "", node), "spec", "taints")) {
		out = append(out, object.String(t, "key")[len("node.kubernetes.io/"):]+":"+object.String(t, "effect"))
	}
	slices.Sort(out)
	return out
}

func nodeReady(c cluster, node string) string {
	return condition(c.Get("nodes", "", node), "Ready")
}

const nodeUnknown = "Unknown NodeStatusUnknown Kubelet stopped posting node status."

// The kubelet of one of three Nodes falls silent: its Pods are not ready, and evicted five
// minutes after the taint. When it comes back, it gets Pods again.
func TestNodeLifecycleSilentNode(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "node-lifecycle-controller,taint-eviction-controller,kubelet,serviceaccount-controller")
	c.Put(linuxNode("a", "") + "\n---\n" + linuxNode("b", "") + "\n---\n" + linuxNode("c", ""))
	c.Settle()
	assert.Empty(t, nodeTaints(c, "a"))
	assert.Contains(t, c.Events("a"), "RegisteredNode: Node a event: Registered Node a in Controller")
	assert.Equal(t, "linux", object.Value(c.Get("nodes", "", "a"), "metadata", "labels", "beta.kubernetes.io/os"))
	c.Create(podsPath, `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: a, containers: [{name: c, image: i}]}}`)
	c.Wait(time.Minute)
	assert.Equal(t, "True", condition(c.Pod("p"), "Ready"))

	c.Kubelet().StopNode("a")
	c.Wait(45 * time.Second)
	assert.Equal(t, "True KubeletReady kubelet is posting ready status", nodeReady(c, "a"))
	c.Wait(15 * time.Second)
	assert.Equal(t, nodeUnknown, nodeReady(c, "a"))
	assert.Equal(t, nodeUnknown, condition(c.Get("nodes", "", "a"), "DiskPressure"))
	assert.Equal(t, []string{"unreachable:NoExecute", "unreachable:NoSchedule"}, nodeTaints(c, "a"))
	assert.Empty(t, nodeTaints(c, "b"))
	assert.Equal(t, "False", condition(c.Pod("p"), "Ready"))
	assert.Contains(t, c.Events("a"), "NodeNotReady: Node a status is now: NodeNotReady")
	assert.Contains(t, c.Events("p"), "NodeNotReady: Node is not ready")
	c.Wait(5 * time.Minute)
	assert.NotNil(t, object.Value(c.Pod("p"), "metadata", "deletionTimestamp"), "the default toleration ends")

	c.Kubelet().StartNode("a")
	c.Wait(10 * time.Second)
	assert.Equal(t, "True KubeletReady kubelet is posting ready status", nodeReady(c, "a"))
	assert.Empty(t, nodeTaints(c, "a"))
	assert.Nil(t, c.Pod("p"))

	c.Delete("/api/v1/nodes/c")
	c.Wait(10 * time.Second)
	assert.Contains(t, c.Events("c"), "RemovingNode: Node c event: Removing Node c from Controller")
}

// TestNodeLifecycleLag: in 1.36, a Node whose Lease the controller does not see becomes Unknown. Since
// 1.37 it reads the Lease before, and waits until its cache has it.
func TestNodeLifecycleLag(t *testing.T) {
	t.Parallel()
	const notReady = "NodeNotReady: Node a status is now: NodeNotReady"
	for release, want := range map[string]bool{"1.36": true, "1.37": false} {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, "node-lifecycle-controller,kubelet", fakeapi.WithRelease(release))
			c.Put(linuxNode("a", ""))
			c.Wait(time.Minute)
			require.NoError(t, c.SetLag("leases", fakeapi.Lag{Frozen: true}))
			c.Wait(2 * time.Minute)
			assert.Equal(t, want, slices.Contains(c.Events("a"), notReady))
			require.NoError(t, c.SetLag("leases", fakeapi.Lag{}))
			c.Kubelet().StopNode("a")
			c.Wait(2 * time.Minute)
			assert.Equal(t, nodeUnknown, nodeReady(c, "a"))
		})
	}
}

// A Node of which no kubelet says anything is Unknown after a minute. It is the only one,
// so it gets no NoExecute taint.
func TestNodeLifecycleNodeWithoutKubelet(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "node-lifecycle-controller")
	c.Put(linuxNode("a", ""))
	c.Wait(time.Minute)
	assert.Empty(t, nodeReady(c, "a"))
	c.Wait(5 * time.Second)
	assert.Equal(t, "Unknown NodeStatusNeverUpdated Kubelet never posted node status.", nodeReady(c, "a"))
	assert.Equal(t, []string{"unreachable:NoSchedule"}, nodeTaints(c, "a"))

	// A client writes the conditions.
	c.MergePatch("/api/v1/nodes/a/status", `{"status":{"conditions":[{"type":"Ready","status":"False"},{"type":"MemoryPressure","status":"True"}]}}`)
	c.Wait(5 * time.Second)
	assert.Equal(t, []string{"memory-pressure:NoSchedule", "not-ready:NoSchedule"}, nodeTaints(c, "a"))
	c.MergePatch("/api/v1/nodes/a", `{"spec":{"unschedulable":true}}`)
	c.MergePatch("/api/v1/nodes/a/status", `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)
	c.Wait(5 * time.Second)
	assert.Equal(t, []string{"unschedulable:NoSchedule"}, nodeTaints(c, "a"))
}

// The number of Nodes of a zone that are tainted in a time is limited.
func TestNodeLifecycleZones(t *testing.T) {
	t.Parallel()
	const zoneA, zoneB = ", topology.kubernetes.io/zone: a", ", topology.kubernetes.io/zone: b"
	tainted := func(c cluster) (n int) {
		nodes := c.List("nodes", "")
		for _, o := range nodes {
			if slices.Contains(nodeTaints(c, o.Name()), "unreachable:NoExecute") {
				n++
			}
		}
		return n
	}
	for _, row := range []struct {
		name     string
		stopped  int // of five Nodes in zone a
		others   int // Nodes in zone b
		minute   int // the number of Nodes that are tainted in a minute
		minutes5 int
	}{
		{"one", 1, 0, 1, 1},
		{"two", 2, 0, 2, 2},
		{"most of a small zone", 3, 2, 0, 0},
		{"all of a zone", 5, 2, 5, 5},
		{"all of the cluster", 5, 0, 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := startCluster(t, "node-lifecycle-controller,kubelet", fakeapi.WithSeed(2))
			for i := range 5 {
				c.Put(linuxNode(fmt.Sprintf("a%d", i), zoneA))
			}
			for i := range row.others {
				c.Put(linuxNode(fmt.Sprintf("b%d", i), zoneB))
			}
			c.Wait(0)
			for i := range row.stopped {
				c.Kubelet().StopNode(fmt.Sprintf("a%d", i))
			}
			c.Wait(60 * time.Second)
			c.Wait(time.Minute)
			assert.Equal(t, row.minute, tainted(c))
			c.Wait(4 * time.Minute)
			assert.Equal(t, row.minutes5, tainted(c))
		})
	}
	t.Run("rate", func(t *testing.T) {
		c := startCluster(t, "node-lifecycle-controller,kubelet")
		for i := range 5 {
			c.Put(linuxNode(fmt.Sprintf("a%d", i), zoneA))
		}
		c.Put(linuxNode("b", zoneB))
		c.Wait(0)
		for i := range 5 {
			c.Kubelet().StopNode(fmt.Sprintf("a%d", i))
		}
		c.Wait(60 * time.Second)
		for n := 1; n <= 5; n++ {
			assert.Equal(t, n, tainted(c), "one in ten seconds")
			c.Wait(10 * time.Second)
		}
	})
}
