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

func startKubelet(t testing.TB, options ...fakeapi.Option) cluster {
	return startCluster(t, "scheduler,kubelet", options...)
}

func phase(p map[string]any) string { return object.String(p, "status", "phase") }

// container returns the status of the ith container of a list.
func container(p map[string]any, list string, i int) map[string]any {
	statuses := object.List(p, "status", list)
	if i >= len(statuses) {
		return nil
	}
	s, _ := statuses[i].(map[string]any)
	return s
}

// Without a Node, the kubelet registers one; Nodes of users become Ready too.
func TestKubeletNodes(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	c.Settle()
	node := c.Get("nodes", "", "node-1")
	require.NotNil(t, node)
	assert.Equal(t, "True KubeletReady kubelet is posting ready status", condition(node, "Ready"))
	assert.Empty(t, object.List(node, "spec", "taints"))
	assert.Equal(t, "node-1", object.String(node, "metadata", "labels", "kubernetes.io/hostname"))

	c.Create("/api/v1/nodes", `{apiVersion: v1, kind: Node, metadata: {name: mine}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}`)
	c.Settle()
	node = c.Get("nodes", "", "mine")
	assert.Equal(t, "True KubeletReady kubelet is posting ready status", condition(node, "Ready"))
	assert.Equal(t, "4", object.String(node, "status", "allocatable", "cpu"), "what the user has set stays")
	assert.Equal(t, "4", object.String(node, "status", "capacity", "cpu"))
	assert.Empty(t, object.List(node, "spec", "taints"))
	assert.NotEmpty(t, object.List(node, "status", "addresses"))

	before := object.String(c.Get("leases", "kube-node-lease", "mine"), "spec", "renewTime")
	c.SettleWithin(time.Minute)
	after := object.String(c.Get("leases", "kube-node-lease", "mine"), "spec", "renewTime")
	assert.Less(t, before, after, "the Lease is renewed")
	writes := c.Writes(0)
	assert.Equal(t, "system:node:mine", writes[len(writes)-1].Writer.User)
}

func TestKubeletExistingNode(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	c.Put(`{apiVersion: v1, kind: Node, metadata: {name: mine}}`)
	c.Settle()
	assert.Nil(t, c.Get("nodes", "", "node-1"))
	assert.NotNil(t, c.Get("nodes", "", "mine"))
}

func TestKubeletRunning(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	c.Create(podsPath, pod("p", ""))
	from := c.Revision()
	c.Settle()
	p := c.Pod("p")
	assert.Equal(t, "Running", phase(p))
	for _, typ := range []string{"PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"} {
		assert.Equal(t, "True", condition(p, typ), typ)
	}
	s := container(p, "containerStatuses", 0)
	assert.Equal(t, "i", object.String(s, "image"))
	assert.True(t, object.Bool(s, "ready"))
	assert.True(t, object.Bool(s, "started"))
	assert.Equal(t, "2026-01-01T00:00:00Z", object.String(s, "state", "running", "startedAt"))
	assert.NotEmpty(t, object.String(p, "status", "hostIP"))
	assert.NotEmpty(t, object.String(p, "status", "podIP"))
	writes := 0
	for _, w := range c.Writes(from + 1) {
		if strings.Contains(w.String(), " pods default/p") {
			writes++
		}
	}
	assert.Equal(t, 2, writes, "a binding and a status")

	c.Delete(podsPath + "/p")
	c.Settle()
	assert.Nil(t, c.Pod("p"), "deleted at once")
}

func TestKubeletAddresses(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	c.Put(`{apiVersion: v1, kind: Node, metadata: {name: a}, spec: {podCIDR: 10.1.0.0/24, podCIDRs: [10.1.0.0/24, "fd00::/64"]}, status: {addresses: [{type: InternalIP, address: 192.0.2.7}]}}`)
	c.Create(podsPath, pod("p1", "")+"\n---\n"+pod("p2", "")+"\n---\n"+pod("p3", ", hostNetwork: true"))
	c.Settle()
	seen := map[string]bool{}
	for _, name := range []string{"p1", "p2"} {
		p := c.Pod(name)
		ip := object.String(p, "status", "podIP")
		assert.Regexp(t, `^10\.1\.0\.`, ip)
		assert.False(t, seen[ip])
		seen[ip] = true
		assert.Len(t, object.List(p, "status", "podIPs"), 2)
		assert.Equal(t, "192.0.2.7", object.String(p, "status", "hostIP"))
	}
	assert.Equal(t, "192.0.2.7", object.String(c.Pod("p3"), "status", "podIP"))
}

func TestKubeletInitContainers(t *testing.T) {
	t.Parallel()
	const inits = `, initContainers: [{name: first, image: a}, {name: sidecar, image: b, restartPolicy: Always}]`
	c := startKubelet(t)
	c.Create(podsPath, pod("p", inits))
	c.Settle()
	p := c.Pod("p")
	assert.Equal(t, "Running", phase(p))
	assert.Equal(t, "Completed", object.String(container(p, "initContainerStatuses", 0), "state", "terminated", "reason"))
	assert.NotNil(t, object.Map(container(p, "initContainerStatuses", 1), "state", "running"))
	assert.Equal(t, "True", condition(p, "Initialized"))

	require.NoError(t, c.Kubelet().Pods("app=broken").Container("first").Complete(3))
	c.Create(podsPath, pod("broken", inits))
	c.SettleWithin(time.Minute)
	p = c.Pod("broken")
	assert.Equal(t, "Pending", phase(p))
	assert.Equal(t, "False ContainersNotInitialized containers with incomplete status: [first sidecar]", condition(p, "Initialized"))
	assert.Equal(t, "CrashLoopBackOff", object.String(container(p, "initContainerStatuses", 0), "state", "waiting", "reason"))
	assert.Equal(t, "PodInitializing", object.String(container(p, "containerStatuses", 0), "state", "waiting", "reason"))

	require.NoError(t, c.Kubelet().Pods("app=failed").Container("first").Complete(3))
	c.Create(podsPath, pod("failed", inits+", restartPolicy: Never"))
	c.Settle()
	assert.Equal(t, "Failed", phase(c.Pod("failed")))
}

func TestKubeletJobPods(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	c.Create(podsPath, `{apiVersion: v1, kind: Pod, metadata: {name: p, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u}]},
  spec: {restartPolicy: Never, containers: [{name: c, image: i}], initContainers: [{name: sidecar, image: b, restartPolicy: Always}]}}`)
	c.Settle()
	p := c.Pod("p")
	assert.Equal(t, "Succeeded", phase(p))
	assert.Equal(t, "False PodCompleted", condition(p, "Ready"))
	assert.Equal(t, "True PodCompleted", condition(p, "Initialized"))
	assert.EqualValues(t, 0, object.Value(container(p, "containerStatuses", 0), "state", "terminated", "exitCode"))
}

func TestKubeletCrashLoop(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	require.NoError(t, c.Kubelet().Pods("app=p").CrashLoop())
	c.Create(podsPath, pod("p", ""))
	c.Settle()
	p := c.Pod("p")
	s := container(p, "containerStatuses", 0)
	assert.Equal(t, "Running", phase(p))
	assert.Equal(t, "CrashLoopBackOff", object.String(s, "state", "waiting", "reason"))
	assert.Equal(t, "back-off 10s restarting failed container=c pod=p_default("+object.String(p, "metadata", "uid")+")", object.String(s, "state", "waiting", "message"))
	assert.EqualValues(t, 1, s["restartCount"])
	assert.EqualValues(t, 1, object.Value(s, "lastState", "terminated", "exitCode"))
	assert.Equal(t, "False ContainersNotReady containers with unready status: [c]", condition(p, "Ready"))

	for i, after := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 5 * time.Minute, 5 * time.Minute} {
		c.Wait(after - time.Second)
		assert.EqualValues(t, 1+i, container(c.Pod("p"), "containerStatuses", 0)["restartCount"], "before %s", after)
		c.Wait(time.Second)
		assert.EqualValues(t, 2+i, container(c.Pod("p"), "containerStatuses", 0)["restartCount"], "after %s", after)
	}

	require.NoError(t, c.Kubelet().Pods("app=p").Run())
	c.SettleWithin(5 * time.Minute)
	p = c.Pod("p")
	assert.Equal(t, "True", condition(p, "Ready"), "it recovers at the end of the back-off")
	assert.EqualValues(t, 9, container(p, "containerStatuses", 0)["restartCount"])
}

func TestKubeletCrashOfRunningPod(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	c.Create(podsPath, pod("p", ""))
	c.Settle()
	require.Equal(t, "True", condition(c.Pod("p"), "Ready"))
	require.NoError(t, c.Kubelet().Pods("app=p").CrashLoop())
	c.Settle()
	assert.Equal(t, "CrashLoopBackOff", object.String(container(c.Pod("p"), "containerStatuses", 0), "state", "waiting", "reason"))
}

func TestKubeletFailImagePull(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	require.NoError(t, c.Kubelet().Pods("app=p").FailImagePull())
	c.Create(podsPath, pod("p", ""))
	c.Settle()
	p := c.Pod("p")
	assert.Equal(t, "Pending", phase(p))
	assert.Equal(t, "ImagePullBackOff", object.String(container(p, "containerStatuses", 0), "state", "waiting", "reason"))
	assert.Contains(t, c.Events("p"), `Failed: Error: ErrImagePull`)
	assert.Contains(t, c.Events("p"), `BackOff: Back-off pulling image "i"`)

	require.NoError(t, c.Kubelet().Pods("app=p").Run())
	c.SettleWithin(10 * time.Second)
	p = c.Pod("p")
	assert.Equal(t, "Running", phase(p))
	assert.EqualValues(t, 0, container(p, "containerStatuses", 0)["restartCount"])
}

func TestKubeletComplete(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, policy string
		code         int
		phase        string
	}{
		{"success", "Never", 0, "Succeeded"},
		{"failure", "Never", 2, "Failed"},
		{"success on failure", "OnFailure", 0, "Succeeded"},
		{"failure on failure", "OnFailure", 2, "Running"},
		{"always", "Always", 0, "Running"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := startKubelet(t)
			require.NoError(t, c.Kubelet().Pods("app=p").In("default").Complete(row.code))
			require.NoError(t, c.Kubelet().Pods("app=p").In("elsewhere").Hang())
			c.Create(podsPath, pod("p", ", restartPolicy: "+row.policy))
			c.Settle()
			assert.Equal(t, row.phase, phase(c.Pod("p")))
		})
	}
}

// Containers that hang are never ready, and take the whole grace period to stop.
func TestKubeletHang(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	require.NoError(t, c.Kubelet().Pods("app=p").Hang())
	c.Create(podsPath, pod("p", ", terminationGracePeriodSeconds: 20"))
	c.SettleWithin(time.Hour)
	p := c.Pod("p")
	assert.Equal(t, "Running", phase(p))
	assert.Equal(t, "False ContainersNotReady containers with unready status: [c]", condition(p, "Ready"))
	c.Delete(podsPath + "/p")
	c.Wait(19 * time.Second)
	assert.NotNil(t, c.Pod("p"))
	c.Wait(time.Second)
	assert.Nil(t, c.Pod("p"))
}

// A Pod with a finalizer shows that its containers have stopped.
func TestKubeletFinalizer(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	c.Create(podsPath, `{apiVersion: v1, kind: Pod, metadata: {name: p, finalizers: [example.com/f]}, spec: {containers: [{name: c, image: i}]}}`)
	c.Settle()
	c.Delete(podsPath + "/p")
	c.SettleWithin(time.Minute)
	p := c.Pod("p")
	assert.Equal(t, "Failed", phase(p))
	assert.EqualValues(t, 137, object.Value(container(p, "containerStatuses", 0), "state", "terminated", "exitCode"))
	c.MergePatch(podsPath+"/p", `{"metadata": {"finalizers": null}}`)
	c.SettleWithin(time.Minute)
	assert.Nil(t, c.Pod("p"))
}

func TestKubeletReadinessGate(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	c.Create(podsPath, pod("p", ", readinessGates: [{conditionType: example.com/gate}]"))
	c.Settle()
	assert.Equal(t, `False ReadinessGatesNotReady corresponding condition of pod readiness gate "example.com/gate" does not exist.`, condition(c.Pod("p"), "Ready"))
	assert.Equal(t, "True", condition(c.Pod("p"), "ContainersReady"))
	c.MergePatch(podsPath+"/p/status", `{"status": {"conditions": [{"type": "example.com/gate", "status": "True"}]}}`)
	c.Settle()
	assert.Equal(t, "True", condition(c.Pod("p"), "Ready"))
}

func TestKubeletDeadline(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	c.Create(podsPath, pod("p", ", activeDeadlineSeconds: 30"))
	c.Wait(29 * time.Second)
	assert.Equal(t, "Running", phase(c.Pod("p")))
	c.Wait(time.Second)
	assert.Equal(t, "Failed", phase(c.Pod("p")))
	assert.Equal(t, "DeadlineExceeded", object.String(c.Pod("p"), "status", "reason"))
}

// A new image restarts the container in place.
func TestKubeletImageUpdate(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	c.Create(podsPath, pod("p", ""))
	c.Settle()
	code, _ := c.Try("PATCH", podsPath+"/p", `{"spec": {"containers": [{"name": "c", "image": "new"}]}}`)
	require.Equal(t, 200, code)
	c.Settle()
	s := container(c.Pod("p"), "containerStatuses", 0)
	assert.Equal(t, "new", object.String(s, "image"))
	assert.EqualValues(t, 1, s["restartCount"])
	assert.True(t, object.Bool(s, "ready"))
}

// A Node whose kubelet is stopped neither renews its Lease nor runs Pods.
func TestKubeletStoppedNode(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	c.Settle()
	c.Kubelet().StopNode("node-1")
	c.Create(podsPath, pod("p", ", nodeName: node-1"))
	before := c.Get("leases", "kube-node-lease", "node-1")
	c.SettleWithin(time.Hour)
	assert.Equal(t, before, c.Get("leases", "kube-node-lease", "node-1"))
	assert.Equal(t, "Pending", phase(c.Pod("p")))
	c.Kubelet().StartNode("node-1")
	c.Settle()
	assert.Equal(t, "Running", phase(c.Pod("p")))
}

// A fork behaves as its origin does.
func TestKubeletFork(t *testing.T) {
	t.Parallel()
	c := startKubelet(t)
	require.NoError(t, c.Kubelet().Pods("app=p").CrashLoop())
	fork := cluster{c.Server.Fork(t), t}
	require.NoError(t, c.Kubelet().Pods("app=p").Run())
	fork.Put(pod("p", ", nodeName: node-1"))
	fork.Settle()
	assert.Equal(t, "CrashLoopBackOff", object.String(container(fork.Pod("p"), "containerStatuses", 0), "state", "waiting", "reason"))
}
