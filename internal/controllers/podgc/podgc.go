// Package podgc has the pod-garbage-collector-controller: it deletes Pods that no
// kubelet ends. These are Pods of Nodes that do not exist, Pods that are being deleted
// and have no Node or one that is out of service, and the oldest of many Pods that have
// ended.
//
// See https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-garbage-collection.
package podgc

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/selector"
)

const (
	// period is the time between two collections.
	period = 20 * time.Second

	// quarantine is how long a Node must be missing before its Pods are deleted.
	quarantine = 40 * time.Second

	// maxEnded is the number of Pods that have ended and are kept.
	maxEnded = 12500

	outOfService = "node.kubernetes.io/out-of-service"
)

type collector struct {
	env    *controller.Env
	client *controller.Client
	pods   *controller.Informer
	nodes  *controller.Informer
	queue  *controller.Queue // of collections: the one key is the zero Key

	start   time.Time            // of the first period
	last    time.Time            // of the last collection
	ended   int                  // the number of Pods that have ended
	missing map[string]time.Time // the ends of the quarantines of Nodes
}

// Start starts the controller. It collects only in those periods in which there may be
// something to collect.
func Start(e *controller.Env) {
	c := &collector{env: e, client: e.Client("pod-garbage-collector"), start: e.Now(), missing: map[string]time.Time{}}
	c.queue = e.Queue(func(controller.Key) error {
		c.collect()
		return nil
	})
	c.pods = e.Informer(controller.Pods, c.podChanged)
	c.nodes = e.Informer(controller.Nodes, c.nodeChanged)
}

func nodeOf(pod *controller.Object) string { return pod.View().String("spec", "nodeName") }

func (c *collector) podChanged(old, pod *controller.Object) {
	if old != nil && controller.PodEnded(old.View()) {
		c.ended--
	}
	if pod == nil {
		return
	}
	if controller.PodEnded(pod.View()) {
		c.ended++
	}
	if c.ended > maxEnded || pod.Terminating || c.lost(pod) {
		c.schedule()
	}
}

func (c *collector) nodeChanged(_, node *controller.Object) {
	if node == nil || isOutOfService(node) {
		c.schedule()
	}
}

// lost reports whether a Pod has a Node that does not exist.
func (c *collector) lost(pod *controller.Object) bool {
	node := nodeOf(pod)
	return node != "" && c.nodes.Get("", node) == nil
}

// isOutOfService reports whether a Node is not ready and was declared out of service.
func isOutOfService(node *controller.Object) bool {
	if controller.HasCondition(node.View(), "Ready", "True") {
		return false
	}
	for t := range node.View().At("spec", "taints").Objects() {
		if t.String("key") == outOfService {
			return true
		}
	}
	return false
}

// schedule queues a collection for the next period.
func (c *collector) schedule() {
	now := c.env.Now()
	wait := -now.Sub(c.start) % period
	if wait < 0 {
		wait += period
	}
	if wait == 0 && c.last.Equal(now) {
		wait = period
	}
	c.queue.AddAfter(controller.Key{}, wait)
}

// collect deletes what there is to collect. Failures are repeated in the next period.
func (c *collector) collect() {
	c.last = c.env.Now()
	pods := c.pods.List("", selector.Labels{})
	found := c.collectEnded(pods)
	for _, pod := range pods {
		if !pod.Terminating {
			continue
		}
		if node := c.nodes.Get("", nodeOf(pod)); node != nil && isOutOfService(node) {
			found = true
			c.delete(pod, nil)
		}
	}
	found = c.collectLost(pods) || found
	for _, pod := range pods {
		if pod.Terminating && nodeOf(pod) == "" {
			found = true
			c.delete(pod, nil)
		}
	}
	if found {
		c.schedule()
	}
}

// collectEnded deletes the oldest Pods that have ended, evicted ones first, if there
// are too many.
func (c *collector) collectEnded(pods []*controller.Object) (found bool) {
	if c.ended <= maxEnded {
		return false
	}
	ended := slices.DeleteFunc(slices.Clone(pods), func(pod *controller.Object) bool { return !controller.PodEnded(pod.View()) })
	rank := func(pod *controller.Object) int {
		if pod.View().String("status", "reason") == "Evicted" {
			return 0
		}
		return 1
	}
	created := func(pod *controller.Object) string {
		return pod.View().String("metadata", "creationTimestamp")
	}
	slices.SortStableFunc(ended, func(a, b *controller.Object) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(created(a), created(b)), cmp.Compare(a.Name, b.Name))
	})
	for _, pod := range ended[:max(0, len(ended)-maxEnded)] {
		c.delete(pod, nil)
	}
	return true
}

// collectLost deletes the Pods of Nodes that are missing since the quarantine began.
func (c *collector) collectLost(pods []*controller.Object) (found bool) {
	now, gone := c.env.Now(), map[string]bool{}
	for _, pod := range pods {
		if node := nodeOf(pod); c.lost(pod) && c.missing[node].IsZero() {
			c.missing[node] = now.Add(quarantine)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(c.missing)) {
		if c.missing[node].After(now) {
			continue
		}
		delete(c.missing, node)
		if c.nodes.Get("", node) == nil {
			_, err := c.client.Get(controller.Nodes, "", node)
			gone[node] = controller.IsNotFound(err)
		}
	}
	for _, pod := range pods {
		if gone[nodeOf(pod)] {
			found = true
			c.delete(pod, controller.PodCondition(pod.View(), controller.DisruptionTarget, "True",
				"DeletionByPodGC", "PodGC: node no longer exists", c.env.Now()))
		}
	}
	return found || len(c.missing) > 0
}

// delete marks a Pod that has not ended as failed, with a condition if there is one,
// and removes it.
func (c *collector) delete(pod *controller.Object, condition map[string]any) {
	if !controller.PodEnded(pod.View()) {
		state := map[string]any{"phase": "Failed"}
		if generation, ok := pod.View().Int("metadata", "generation"); ok {
			state["observedGeneration"] = generation
		}
		if condition != nil {
			state["conditions"] = []any{condition}
		}
		if err := c.client.PatchPodStatus(pod, state); err != nil {
			return
		}
	}
	now := int64(0)
	_ = c.client.Delete(controller.Pods, pod.Namespace, pod.Name, controller.DeleteOptions{GracePeriod: &now})
}
