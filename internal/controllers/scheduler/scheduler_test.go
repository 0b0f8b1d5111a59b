package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/controllers/controllertest"
	"github.com/kubefake/kubefake/internal/object"
)

const podsPath = "/api/v1/namespaces/default/pods"

func node(name, more string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {kubernetes.io/hostname: %[1]s, zone: z-%[1]s}},
  status: {allocatable: {cpu: "2", memory: 4Gi, pods: "3"}}%s}`, name, more)
}

func pod(name, spec string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {app: %s}}, spec: {%s}}`, name, strings.TrimRight(name, "0123456789"), spec)
}

const oneContainer = `containers: [{name: c, image: i}]`

func requesting(cpu string) string {
	return `containers: [{name: c, image: i, resources: {requests: {cpu: ` + cpu + `}}}]`
}

func nodeOf(p map[string]any) string { return object.String(p, "spec", "nodeName") }

// Each row creates Nodes and then one Pod after the other. The Pod p goes to the Node
// want, or has the message want.
func TestSelection(t *testing.T) {
	const noVictims = " preemption: 0/%d nodes are available: %[1]d No preemption victims found for incoming pod."
	const notHelpful = " preemption: 0/%d nodes are available: %[1]d Preemption is not helpful for scheduling."
	affinity := func(kind, key string) string {
		return fmt.Sprintf(`%s, affinity: {%s: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: {matchLabels: {app: other}}}]}}`, oneContainer, kind, key)
	}
	for _, row := range []struct {
		name  string
		nodes []string
		pods  []string
		want  string
	}{
		{"one node", []string{node("a", "")}, []string{pod("p", oneContainer)}, "a"},
		{"no nodes", nil, []string{pod("p", oneContainer)}, "no nodes available to schedule pods"},
		{"fewest pods", []string{node("a", ""), node("b", "")}, []string{pod("other1", oneContainer), pod("p", oneContainer)}, "b"},
		{"other scheduler", []string{node("a", "")}, []string{pod("p", oneContainer+`, schedulerName: mine`)}, ""},
		{"gated", []string{node("a", "")}, []string{pod("p", oneContainer+`, schedulingGates: [{name: g}]`)}, "Scheduling is blocked due to non-empty scheduling gates"},
		{"selector", []string{node("a", ""), node("b", "")}, []string{pod("p", oneContainer+`, nodeSelector: {zone: z-b}`)}, "b"},
		{
			"no node is selected", []string{node("a", "")}, []string{pod("p", oneContainer+`, nodeSelector: {zone: x}`)},
			"0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector." + fmt.Sprintf(notHelpful, 1),
		},
		{
			"by name", []string{node("a", ""), node("b", `, spec: {taints: [{key: k, effect: NoSchedule}]}`)},
			[]string{pod("p", oneContainer+`, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [b]}]}]}}}`)},
			"0/2 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity], 1 node(s) had untolerated taint(s)." + fmt.Sprintf(notHelpful, 2),
		},
		{
			"preferred affinity", []string{node("a", ""), node("b", "")},
			[]string{pod("other1", oneContainer+`, nodeName: b`), pod("p", oneContainer+`, affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: zone, operator: In, values: [z-b]}]}}]}}`)}, "b",
		},
		{
			"taint", []string{node("a", `, spec: {taints: [{key: k, value: v, effect: NoSchedule}]}`)}, []string{pod("p", oneContainer)},
			"0/1 nodes are available: 1 node(s) had untolerated taint(s)." + fmt.Sprintf(notHelpful, 1),
		},
		{
			"toleration", []string{node("a", `, spec: {taints: [{key: k, value: v, effect: NoSchedule}]}`)},
			[]string{pod("p", oneContainer+`, tolerations: [{key: k, operator: Equal, value: v, effect: NoSchedule}]`)}, "a",
		},
		{"mild taint", []string{node("a", `, spec: {taints: [{key: k, effect: PreferNoSchedule}]}`), node("b", "")}, []string{pod("p", oneContainer)}, "b"},
		{
			"unschedulable", []string{node("a", `, spec: {unschedulable: true}`)}, []string{pod("p", oneContainer)},
			"0/1 nodes are available: 1 node(s) were unschedulable." + fmt.Sprintf(notHelpful, 1),
		},
		{
			"never enough", []string{node("a", "")}, []string{pod("p", requesting("3"))},
			"0/1 nodes are available: 1 Insufficient cpu." + fmt.Sprintf(notHelpful, 1),
		},
		{
			"taken", []string{node("a", ""), node("b", "")}, []string{pod("other1", requesting("1500m")), pod("other2", requesting("1500m")), pod("p", requesting("501m"))},
			"0/2 nodes are available: 2 Insufficient cpu." + fmt.Sprintf(noVictims, 2),
		},
		{"just enough", []string{node("a", "")}, []string{pod("other1", requesting("1500m")), pod("p", requesting("500m"))}, "a"},
		{
			"too many pods", []string{node("a", "")}, []string{pod("o1", oneContainer), pod("o2", oneContainer), pod("o3", oneContainer), pod("p", oneContainer)},
			"0/1 nodes are available: 1 Too many pods." + fmt.Sprintf(noVictims, 1),
		},
		{
			"host port", []string{node("a", "")},
			[]string{pod("o1", `containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}]}]`), pod("p", `containers: [{name: c, image: i, ports: [{containerPort: 8080, hostPort: 80, hostIP: 10.0.0.1}]}]`)},
			"0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports." + fmt.Sprintf(noVictims, 1),
		},
		{"affinity", []string{node("a", ""), node("b", "")}, []string{pod("other1", oneContainer+`, nodeName: b`), pod("p", affinity("podAffinity", "zone"))}, "b"},
		{
			"affinity to nobody", []string{node("a", "")}, []string{pod("p", affinity("podAffinity", "zone"))},
			"0/1 nodes are available: 1 node(s) didn't match pod affinity rules." + fmt.Sprintf(notHelpful, 1),
		},
		{"affinity to itself", []string{node("a", "")}, []string{strings.ReplaceAll(pod("p", affinity("podAffinity", "zone")), "app: p", "app: other")}, "a"},
		{"anti-affinity", []string{node("a", ""), node("b", "")}, []string{pod("other1", oneContainer+`, nodeName: a`), pod("p", affinity("podAntiAffinity", "zone"))}, "b"},
		{
			"anti-affinity of others", []string{node("a", "")},
			[]string{strings.ReplaceAll(pod("o1", affinity("podAntiAffinity", "zone")), "app: other", "app: p"), pod("p", oneContainer)},
			"0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules." + fmt.Sprintf(noVictims, 1),
		},
		{
			"spread", []string{node("a", ""), node("b", `, spec: {unschedulable: true}`)},
			[]string{pod("p1", oneContainer+`, nodeName: a`), pod("p", oneContainer+`, topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: p}}}]`)},
			"0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable. preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
		},
		{
			"no claim", []string{node("a", "")}, []string{pod("p", oneContainer+`, volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]`)},
			`0/1 nodes are available: persistentvolumeclaim "data" not found.` + fmt.Sprintf(notHelpful, 1),
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := controllertest.StartCluster(t, "scheduler")
			for _, n := range row.nodes {
				c.Put(n)
			}
			for _, p := range row.pods {
				c.Create(podsPath, p)
				c.Settle(0)
			}
			p := c.Pod("p")
			if strings.Contains(row.want, " ") {
				assert.Empty(t, nodeOf(p))
				condition := controllertest.Condition(p, "PodScheduled")
				if strings.HasPrefix(condition, "False SchedulingGated") {
					assert.Equal(t, "False SchedulingGated "+row.want, condition)
					return
				}
				assert.Equal(t, "False Unschedulable "+row.want, condition)
				assert.Equal(t, []string{"FailedScheduling: " + row.want}, c.Events("p"))
				return
			}
			assert.Equal(t, row.want, nodeOf(p))
			if row.want != "" {
				assert.Equal(t, "True", controllertest.Condition(p, "PodScheduled"))
				assert.Equal(t, []string{"Scheduled: Successfully assigned default/p to " + row.want}, c.Events("p"))
			}
		})
	}
}

// What makes a rejected Pod schedulable brings it back at once.
func TestRetry(t *testing.T) {
	for _, row := range []struct {
		name   string
		pod    string
		change func(c controllertest.Cluster)
	}{
		{"node is added", pod("p", oneContainer+", nodeSelector: {zone: z-b}"), func(c controllertest.Cluster) { c.Put(node("b", "")) }},
		{"node is labelled", pod("p", oneContainer+", nodeSelector: {new: label}"), func(c controllertest.Cluster) {
			c.MergePatch("/api/v1/nodes/a", `{"metadata": {"labels": {"new": "label"}}}`)
		}},
		{"pod is deleted", pod("p", requesting("1")), func(c controllertest.Cluster) { c.Delete(podsPath + "/other?gracePeriodSeconds=0") }},
		{"pod has ended", pod("p", requesting("1")), func(c controllertest.Cluster) {
			c.MergePatch(podsPath+"/other/status", `{"status": {"phase": "Succeeded"}}`)
		}},
		{"gate is removed", pod("p", oneContainer+", schedulingGates: [{name: g}]"), func(c controllertest.Cluster) {
			c.MergePatch(podsPath+"/p", `{"spec": {"schedulingGates": null}}`)
		}},
		{"pod of its affinity", pod("p", oneContainer+`, affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {app: friend}}}]}}`), func(c controllertest.Cluster) {
			c.Create(podsPath, pod("friend", oneContainer))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := controllertest.StartCluster(t, "scheduler")
			c.Put(node("a", ""))
			c.Create(podsPath, pod("other", requesting("1500m")))
			c.Settle(0)
			c.Create(podsPath, row.pod)
			c.Settle(0)
			require.Empty(t, nodeOf(c.Pod("p")))
			row.change(c)
			c.Settle(0)
			assert.NotEmpty(t, nodeOf(c.Pod("p")))
		})
	}
}

func TestPriorityOrder(t *testing.T) {
	c := controllertest.StartCluster(t, "scheduler")
	c.Put(`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}`)
	c.Put(node("a", ""))
	c.Create(podsPath, pod("low", requesting("2")))
	c.Create(podsPath, pod("high", requesting("2")+", priorityClassName: high"))
	c.Settle(0)
	assert.Equal(t, "a", nodeOf(c.Pod("high")))
	assert.Empty(t, nodeOf(c.Pod("low")))
	assert.Empty(t, c.Events("high")[1:], "no preemption was needed")
}

func TestPreemption(t *testing.T) {
	c := controllertest.StartCluster(t, "scheduler")
	c.Put(`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: middle}, value: 10}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: polite}, value: 1000, preemptionPolicy: Never}`)
	c.Put(node("a", ""))
	c.Create(podsPath, pod("v1", requesting("1")+", priorityClassName: middle"))
	c.Create(podsPath, pod("v2", requesting("1")))
	c.Settle(0)

	c.Create(podsPath, pod("polite", requesting("1")+", priorityClassName: polite"))
	c.Settle(0)
	assert.Equal(t, "False Unschedulable 0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.",
		controllertest.Condition(c.Pod("polite"), "PodScheduled"))
	c.Delete(podsPath + "/polite")

	c.Create(podsPath, pod("p", requesting("1")+", priorityClassName: high"))
	c.Settle(0)
	p, victim := c.Pod("p"), c.Pod("v2")
	assert.Equal(t, "a", object.String(p, "status", "nominatedNodeName"))
	assert.Equal(t, "False Unschedulable 0/1 nodes are available: 1 Insufficient cpu.", controllertest.Condition(p, "PodScheduled"))
	assert.NotEmpty(t, object.String(victim, "metadata", "deletionTimestamp"), "the Pod of the lowest priority is the victim")
	assert.Equal(t, "True PreemptionByScheduler default-scheduler: preempting to accommodate a higher priority pod", controllertest.Condition(victim, "DisruptionTarget"))
	assert.Contains(t, c.Events("v2"), "Preempted: Preempted by pod "+object.String(p, "metadata", "uid")+" on node a")
	assert.Empty(t, object.String(c.Pod("v1"), "metadata", "deletionTimestamp"))

	c.Delete(podsPath + "/v2?gracePeriodSeconds=0")
	c.Settle(0)
	p = c.Pod("p")
	assert.Equal(t, "a", nodeOf(p))
	assert.Empty(t, object.String(p, "status", "nominatedNodeName"))
}

// A Node that a Pod of higher priority is nominated to has no room for others.
func TestNominated(t *testing.T) {
	c := controllertest.StartCluster(t, "scheduler")
	c.Put(`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}`)
	c.Put(node("a", ""))
	c.Create(podsPath, pod("victim", requesting("2")))
	c.Settle(0)
	c.Create(podsPath, pod("p", requesting("2")+", priorityClassName: high"))
	c.Settle(0)
	c.Create(podsPath, pod("thief", requesting("1")))
	c.Delete(podsPath + "/victim?gracePeriodSeconds=0")
	c.Settle(0)
	assert.Equal(t, "a", nodeOf(c.Pod("p")))
	assert.Empty(t, nodeOf(c.Pod("thief")))
}

// A rejected Pod is tried again after five minutes: the Event becomes a series.
func TestSeries(t *testing.T) {
	c := controllertest.StartCluster(t, "scheduler")
	c.Create(podsPath, pod("p", oneContainer))
	c.Settle(11 * time.Minute)
	events, err := c.List("events.events.k8s.io", "")
	require.NoError(t, err)
	require.Len(t, events, 2, "the second one regards the Pod with its condition")
	assert.Nil(t, events[0]["series"])
	count, _ := object.Int(events[1], "series", "count")
	assert.EqualValues(t, 2, count)
	assert.Equal(t, "default-scheduler", object.String(events[1], "reportingController"))
}

// The roles of kube-scheduler are sufficient.
func TestRoles(t *testing.T) {
	c := controllertest.StartCluster(t, "scheduler")
	c.Put(`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}`)
	c.Put(node("a", ""))
	c.Create(podsPath, pod("v", requesting("2")))
	c.Settle(0)
	c.Create(podsPath, pod("p", requesting("2")+", priorityClassName: high"))
	c.Settle(0)
	assert.Equal(t, "a", object.String(c.Pod("p"), "status", "nominatedNodeName"))
	assert.Len(t, c.Events("v"), 2)
	for _, w := range c.Writes(0) {
		if strings.Contains(w.Writer.UserAgent, "kube-scheduler/") {
			assert.Equal(t, "system:kube-scheduler", w.Writer.User)
		}
	}
}

// Claims of a class that waits for its consumer are bound for the Node that is chosen.
func TestDelayedVolumes(t *testing.T) {
	const claim = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default},
  spec: {storageClassName: %s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}, status: {phase: Pending}}`
	uses := pod("p", oneContainer+`, volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]`)
	classes := `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: made}, provisioner: example.com/disk, volumeBindingMode: WaitForFirstConsumer,
  allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [z-b]}]}]}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}`
	start := func(t *testing.T) controllertest.Cluster {
		c := controllertest.StartCluster(t, "scheduler")
		c.Put(classes)
		c.Put(node("a", ""))
		c.Put(node("b", ""))
		return c
	}
	t.Run("provisioned", func(t *testing.T) {
		c := start(t)
		c.Put(fmt.Sprintf(claim, "made"))
		c.Create(podsPath, uses)
		c.Settle(0)
		assert.Empty(t, nodeOf(c.Pod("p")))
		assert.Equal(t, "b", object.String(c.Get("persistentvolumeclaims", "default", "data"), "metadata", "annotations", "volume.kubernetes.io/selected-node"))

		c.MergePatch("/api/v1/namespaces/default/persistentvolumeclaims/data", `{"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}, "spec": {"volumeName": "v1"}}`)
		c.Settle(0)
		assert.Equal(t, "b", nodeOf(c.Pod("p")))
	})
	t.Run("static", func(t *testing.T) {
		c := start(t)
		c.Put(fmt.Sprintf(claim, "local"))
		c.Put(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: disk}, spec: {storageClassName: local, capacity: {storage: 2Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x},
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [z-b]}]}]}}}, status: {phase: Available}}`)
		c.Create(podsPath, uses)
		c.Settle(0)
		assert.Equal(t, "data", object.String(c.Get("persistentvolumes", "", "disk"), "spec", "claimRef", "name"))
	})
	t.Run("none", func(t *testing.T) {
		c := start(t)
		c.Put(fmt.Sprintf(claim, "local"))
		c.Create(podsPath, uses)
		c.Settle(0)
		assert.Contains(t, controllertest.Condition(c.Pod("p"), "PodScheduled"), "2 node(s) didn't find available persistent volumes to bind.")
	})
}
