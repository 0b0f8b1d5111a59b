package controllers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

func smallNode(name, more string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {kubernetes.io/hostname: %[1]s, zone: z-%[1]s}},
  status: {allocatable: {cpu: "2", memory: 4Gi, pods: "3"}}%s}`, name, more)
}

func requesting(cpu string) string {
	return `containers: [{name: c, image: i, resources: {requests: {cpu: ` + cpu + `}}}]`
}

func nodeOf(p map[string]any) string { return object.String(p, "spec", "nodeName") }

// Each row creates Nodes and then one Pod after the other. The Pod p goes to the Node
// want, or has the message want.
func TestSchedulerSelection(t *testing.T) {
	t.Parallel()
	const noVictims = " preemption: 0/%d nodes are available: %[1]d No preemption victims found for incoming pod."
	const notHelpful = " preemption: 0/%d nodes are available: %[1]d Preemption is not helpful for scheduling."
	affinity := func(kind, key string) string {
		return fmt.Sprintf(`, affinity: {%s: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: {matchLabels: {app: other}}}]}}`, kind, key)
	}
	for _, row := range []struct {
		name  string
		nodes []string
		pods  []string
		want  string
	}{
		{"one node", []string{smallNode("a", "")}, []string{pod("p", "")}, "a"},
		{"no nodes", nil, []string{pod("p", "")}, "no nodes available to schedule pods"},
		{"fewest pods", []string{smallNode("a", ""), smallNode("b", "")}, []string{pod("other1", ""), pod("p", "")}, "b"},
		{"other scheduler", []string{smallNode("a", "")}, []string{pod("p", `, schedulerName: mine`)}, ""},
		{"gated", []string{smallNode("a", "")}, []string{pod("p", `, schedulingGates: [{name: g}]`)}, "Scheduling is blocked due to non-empty scheduling gates"},
		{"selector", []string{smallNode("a", ""), smallNode("b", "")}, []string{pod("p", `, nodeSelector: {zone: z-b}`)}, "b"},
		{
			"no node is selected", []string{smallNode("a", "")}, []string{pod("p", `, nodeSelector: {zone: x}`)},
			"0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector." + fmt.Sprintf(notHelpful, 1),
		},
		{
			"by name", []string{smallNode("a", ""), smallNode("b", `, spec: {taints: [{key: k, effect: NoSchedule}]}`)},
			[]string{pod("p", `, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [b]}]}]}}}`)},
			"0/2 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity], 1 node(s) had untolerated taint(s)." + fmt.Sprintf(notHelpful, 2),
		},
		{
			"preferred affinity", []string{smallNode("a", ""), smallNode("b", "")},
			[]string{pod("other1", `, nodeName: b`), pod("p", `, affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: zone, operator: In, values: [z-b]}]}}]}}`)}, "b",
		},
		{
			"taint", []string{smallNode("a", `, spec: {taints: [{key: k, value: v, effect: NoSchedule}]}`)}, []string{pod("p", "")},
			"0/1 nodes are available: 1 node(s) had untolerated taint(s)." + fmt.Sprintf(notHelpful, 1),
		},
		{
			"toleration", []string{smallNode("a", `, spec: {taints: [{key: k, value: v, effect: NoSchedule}]}`)},
			[]string{pod("p", `, tolerations: [{key: k, operator: Equal, value: v, effect: NoSchedule}]`)}, "a",
		},
		{"mild taint", []string{smallNode("a", `, spec: {taints: [{key: k, effect: PreferNoSchedule}]}`), smallNode("b", "")}, []string{pod("p", "")}, "b"},
		{
			"unschedulable", []string{smallNode("a", `, spec: {unschedulable: true}`)}, []string{pod("p", "")},
			"0/1 nodes are available: 1 node(s) were unschedulable." + fmt.Sprintf(notHelpful, 1),
		},
		{
			"never enough", []string{smallNode("a", "")}, []string{podWith("p", requesting("3"))},
			"0/1 nodes are available: 1 Insufficient cpu." + fmt.Sprintf(notHelpful, 1),
		},
		{
			"taken", []string{smallNode("a", ""), smallNode("b", "")}, []string{podWith("other1", requesting("1500m")), podWith("other2", requesting("1500m")), podWith("p", requesting("501m"))},
			"0/2 nodes are available: 2 Insufficient cpu." + fmt.Sprintf(noVictims, 2),
		},
		{"just enough", []string{smallNode("a", "")}, []string{podWith("other1", requesting("1500m")), podWith("p", requesting("500m"))}, "a"},
		{
			"too many pods", []string{smallNode("a", "")}, []string{pod("o1", ""), pod("o2", ""), pod("o3", ""), pod("p", "")},
			"0/1 nodes are available: 1 Too many pods." + fmt.Sprintf(noVictims, 1),
		},
		{
			"host port", []string{smallNode("a", "")},
			[]string{podWith("o1", `containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}]}]`), podWith("p", `containers: [{name: c, image: i, ports: [{containerPort: 8080, hostPort: 80, hostIP: 10.0.0.1}]}]`)},
			"0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports." + fmt.Sprintf(noVictims, 1),
		},
		{"affinity", []string{smallNode("a", ""), smallNode("b", "")}, []string{pod("other1", `, nodeName: b`), pod("p", affinity("podAffinity", "zone"))}, "b"},
		{
			"affinity to nobody", []string{smallNode("a", "")}, []string{pod("p", affinity("podAffinity", "zone"))},
			"0/1 nodes are available: 1 node(s) didn't match pod affinity rules." + fmt.Sprintf(notHelpful, 1),
		},
		{"affinity to itself", []string{smallNode("a", "")}, []string{strings.ReplaceAll(pod("p", affinity("podAffinity", "zone")), "app: p", "app: other")}, "a"},
		{"anti-affinity", []string{smallNode("a", ""), smallNode("b", "")}, []string{pod("other1", `, nodeName: a`), pod("p", affinity("podAntiAffinity", "zone"))}, "b"},
		{
			"anti-affinity of others", []string{smallNode("a", "")},
			[]string{strings.ReplaceAll(pod("o1", affinity("podAntiAffinity", "zone")), "app: other", "app: p"), pod("p", "")},
			"0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules." + fmt.Sprintf(noVictims, 1),
		},
		{
			"spread", []string{smallNode("a", ""), smallNode("b", `, spec: {unschedulable: true}`)},
			[]string{pod("p1", `, nodeName: a`), pod("p", `, topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: p}}}]`)},
			"0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable. preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
		},
		{
			"no claim", []string{smallNode("a", "")}, []string{pod("p", `, volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]`)},
			`0/1 nodes are available: persistentvolumeclaim "data" not found.` + fmt.Sprintf(notHelpful, 1),
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, "scheduler")
			c.Put(row.nodes...)
			for _, p := range row.pods {
				c.Create(podsPath, p)
				c.Settle()
			}
			p := c.Pod("p")
			if strings.Contains(row.want, " ") {
				assert.Empty(t, nodeOf(p))
				condition := condition(p, "PodScheduled")
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
				assert.Equal(t, "True", condition(p, "PodScheduled"))
				assert.Equal(t, []string{"Scheduled: Successfully assigned default/p to " + row.want}, c.Events("p"))
			}
		})
	}
}

// A rejected Pod is scheduled at once when it becomes schedulable.
func TestSchedulerRetry(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		pod    string
		change func(c cluster)
	}{
		{"node is added", pod("p", ", nodeSelector: {zone: z-b}"), func(c cluster) { c.Put(smallNode("b", "")) }},
		{"node is labelled", pod("p", ", nodeSelector: {new: label}"), func(c cluster) {
			c.MergePatch("/api/v1/nodes/a", `{"metadata": {"labels": {"new": "label"}}}`)
		}},
		{"pod is deleted", podWith("p", requesting("1")), func(c cluster) { c.Delete(podsPath + "/other?gracePeriodSeconds=0") }},
		{"pod has ended", podWith("p", requesting("1")), func(c cluster) {
			c.MergePatch(podsPath+"/other/status", `{"status": {"phase": "Succeeded"}}`)
		}},
		{"gate is removed", pod("p", ", schedulingGates: [{name: g}]"), func(c cluster) {
			c.MergePatch(podsPath+"/p", `{"spec": {"schedulingGates": null}}`)
		}},
		{"pod of its affinity", pod("p", `, affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {app: friend}}}]}}`), func(c cluster) {
			c.Create(podsPath, pod("friend", ""))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := startCluster(t, "scheduler")
			c.Put(smallNode("a", ""))
			c.Create(podsPath, podWith("other", requesting("1500m")))
			c.Settle()
			c.Create(podsPath, row.pod)
			c.Settle()
			require.Empty(t, nodeOf(c.Pod("p")))
			row.change(c)
			c.Settle()
			assert.NotEmpty(t, nodeOf(c.Pod("p")))
		})
	}
}

func TestSchedulerPriorityOrder(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "scheduler")
	c.Put(`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}`)
	c.Put(smallNode("a", ""))
	c.Create(podsPath, podWith("low", requesting("2")))
	c.Create(podsPath, podWith("high", requesting("2")+", priorityClassName: high"))
	c.Settle()
	assert.Equal(t, "a", nodeOf(c.Pod("high")))
	assert.Empty(t, nodeOf(c.Pod("low")))
	assert.Empty(t, c.Events("high")[1:], "no preemption was needed")
}

func TestSchedulerPreemption(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "scheduler")
	c.Put(`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: middle}, value: 10}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: polite}, value: 1000, preemptionPolicy: Never}`)
	c.Put(smallNode("a", ""))
	c.Create(podsPath, podWith("v1", requesting("1")+", priorityClassName: middle"))
	c.Create(podsPath, podWith("v2", requesting("1")))
	c.Settle()

	c.Create(podsPath, podWith("polite", requesting("1")+", priorityClassName: polite"))
	c.Settle()
	assert.Equal(t, "False Unschedulable 0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.",
		condition(c.Pod("polite"), "PodScheduled"))
	c.Delete(podsPath + "/polite")

	c.Create(podsPath, podWith("p", requesting("1")+", priorityClassName: high"))
	c.Settle()
	p, victim := c.Pod("p"), c.Pod("v2")
	assert.Equal(t, "a", object.String(p, "status", "nominatedNodeName"))
	assert.Equal(t, "False Unschedulable 0/1 nodes are available: 1 Insufficient cpu.", condition(p, "PodScheduled"))
	assert.NotEmpty(t, object.String(victim, "metadata", "deletionTimestamp"), "the Pod of the lowest priority is the victim")
	assert.Equal(t, "True PreemptionByScheduler default-scheduler: preempting to accommodate a higher priority pod", condition(victim, "DisruptionTarget"))
	assert.Contains(t, c.Events("v2"), "Preempted: Preempted by pod "+object.String(p, "metadata", "uid")+" on node a")
	assert.Empty(t, object.String(c.Pod("v1"), "metadata", "deletionTimestamp"))

	c.Delete(podsPath + "/v2?gracePeriodSeconds=0")
	c.Settle()
	p = c.Pod("p")
	assert.Equal(t, "a", nodeOf(p))
	assert.Empty(t, object.String(p, "status", "nominatedNodeName"))
}

// A Node that a Pod of higher priority is nominated to has no room for others.
func TestSchedulerNominated(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "scheduler")
	c.Put(`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}`)
	c.Put(smallNode("a", ""))
	c.Create(podsPath, podWith("victim", requesting("2")))
	c.Settle()
	c.Create(podsPath, podWith("p", requesting("2")+", priorityClassName: high"))
	c.Settle()
	c.Create(podsPath, podWith("thief", requesting("1")))
	c.Delete(podsPath + "/victim?gracePeriodSeconds=0")
	c.Settle()
	assert.Equal(t, "a", nodeOf(c.Pod("p")))
	assert.Empty(t, nodeOf(c.Pod("thief")))
}

// A rejected Pod is tried again after five minutes: the Event becomes a series.
func TestSchedulerSeries(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "scheduler")
	c.Create(podsPath, pod("p", ""))
	c.SettleWithin(11 * time.Minute)
	events := c.List("events.events.k8s.io", "")
	require.Len(t, events, 2, "the second one regards the Pod with its condition")
	assert.Nil(t, events[0]["series"])
	count, _ := object.Int(events[1], "series", "count")
	assert.EqualValues(t, 2, count)
	assert.Equal(t, "default-scheduler", object.String(events[1], "reportingController"))
}

// The roles of kube-scheduler are sufficient.
func TestSchedulerRoles(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "scheduler")
	c.Put(`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}`)
	c.Put(smallNode("a", ""))
	c.Create(podsPath, podWith("v", requesting("2")))
	c.Settle()
	c.Create(podsPath, podWith("p", requesting("2")+", priorityClassName: high"))
	c.Settle()
	assert.Equal(t, "a", object.String(c.Pod("p"), "status", "nominatedNodeName"))
	assert.Len(t, c.Events("v"), 2)
	for _, w := range c.Writes(0) {
		if strings.Contains(w.Writer.UserAgent, "kube-scheduler/") {
			assert.Equal(t, "system:kube-scheduler", w.Writer.User)
		}
	}
}

// Claims of a class that waits for its consumer are bound for the Node that is chosen.
func TestSchedulerDelayedVolumes(t *testing.T) {
	t.Parallel()
	const claim = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default},
  spec: {storageClassName: %s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}, status: {phase: Pending}}`
	uses := pod("p", `, volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]`)
	classes := `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: made}, provisioner: example.com/disk, volumeBindingMode: WaitForFirstConsumer,
  allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [z-b]}]}]}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}`
	start := func(t *testing.T) cluster {
		c := startCluster(t, "scheduler")
		c.Put(classes)
		c.Put(smallNode("a", ""))
		c.Put(smallNode("b", ""))
		return c
	}
	t.Run("provisioned", func(t *testing.T) {
		c := start(t)
		c.Put(fmt.Sprintf(claim, "made"))
		c.Create(podsPath, uses)
		c.Settle()
		assert.Empty(t, nodeOf(c.Pod("p")))
		assert.Equal(t, "b", object.String(c.Get("persistentvolumeclaims", "default", "data"), "metadata", "annotations", "volume.kubernetes.io/selected-node"))

		c.MergePatch(claimsPath+"/data", `{"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}, "spec": {"volumeName": "v1"}}`)
		c.Settle()
		assert.Equal(t, "b", nodeOf(c.Pod("p")))
	})
	t.Run("static", func(t *testing.T) {
		c := start(t)
		c.Put(fmt.Sprintf(claim, "local"))
		c.Put(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: disk}, spec: {storageClassName: local, capacity: {storage: 2Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x},
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [z-b]}]}]}}}, status: {phase: Available}}`)
		c.Create(podsPath, uses)
		c.Settle()
		assert.Equal(t, "data", object.String(c.Get("persistentvolumes", "", "disk"), "spec", "claimRef", "name"))
	})
	t.Run("none", func(t *testing.T) {
		c := start(t)
		c.Put(fmt.Sprintf(claim, "local"))
		c.Create(podsPath, uses)
		c.Settle()
		assert.Contains(t, condition(c.Pod("p"), "PodScheduled"), "2 node(s) didn't find available persistent volumes to bind.")
	})
}
