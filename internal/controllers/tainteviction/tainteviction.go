// Package tainteviction has the taint-eviction-controller: it deletes Pods from Nodes with
// NoExecute taints that the Pods do not tolerate, or tolerate for a time only.
//
// See https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/.
package tainteviction

import (
	"math"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

type evictor struct {
	env      *controller.Env
	client   *controller.Client
	recorder *controller.Recorder
	nodes    *controller.Informer
	pods     *controller.Informer

	nodeQueue *controller.Queue
	podQueue  *controller.Queue
	evictions *controller.Queue // of Pods

	due map[controller.Key]time.Time // when Pods are evicted
}

// Start starts the controller.
func Start(e *controller.Env) {
	client := e.Client("node-controller")
	c := &evictor{env: e, client: client, recorder: e.Recorder(client, "taint-eviction-controller"), due: map[controller.Key]time.Time{}}
	c.nodeQueue = e.Queue(c.syncNode)
	c.podQueue = e.Queue(c.syncPod)
	c.evictions = e.Queue(c.evict, controller.QueueOptions{MaxRetries: evictionRetries, MinBackoff: evictionBackoff, MaxBackoff: evictionBackoff})
	c.nodes = e.Informer(controller.Nodes, func(old, node *controller.Object) {
		if node != nil && !slices.EqualFunc(noExecuteTaints(old), noExecuteTaints(node), object.View.Equal) {
			c.nodeQueue.Add(node.Key())
		}
	})
	c.pods = e.PodsByNode(func(old, pod *controller.Object) {
		if old == nil || pod == nil || !spec(old, "nodeName").Equal(spec(pod, "nodeName")) || !spec(old, "tolerations").Equal(spec(pod, "tolerations")) {
			if pod == nil {
				pod = old
			}
			c.podQueue.Add(pod.Key())
		}
	})
}

// A failed eviction is repeated.
const (
	evictionRetries = 4
	evictionBackoff = 10 * time.Millisecond
)

func spec(o *controller.Object, field string) object.View { return o.View().At("spec", field) }

// noExecuteTaints returns the NoExecute taints of a Node, nil if there is no Node.
func noExecuteTaints(node *controller.Object) (taints []object.View) {
	if node == nil {
		return nil
	}
	for taint := range spec(node, "taints").Objects() {
		if taint.String("effect") == controller.NoExecute {
			taints = append(taints, taint)
		}
	}
	return taints
}

func (c *evictor) syncNode(k controller.Key) error {
	if node := c.nodes.Get("", k.Name); node != nil {
		taints := noExecuteTaints(node)
		for _, pod := range c.pods.By(controller.ByNode, k.Name) {
			c.schedule(pod, taints)
		}
	}
	return nil
}

func (c *evictor) syncPod(k controller.Key) error {
	pod := c.pods.Get(k.Namespace, k.Name)
	if pod == nil {
		c.cancel(k)
		return nil
	}
	name := spec(pod, "nodeName").String()
	if taints := noExecuteTaints(c.nodes.Get("", name)); len(taints) > 0 {
		c.schedule(pod, taints)
	}
	return nil
}

// schedule decides when a Pod is evicted from a Node with the taints.
func (c *evictor) schedule(pod *controller.Object, taints []object.View) {
	k := pod.Key()
	now := c.env.Now()
	at, scheduled := c.due[k]
	d, ok := toleration(pod, taints)
	switch {
	case scheduled && !at.After(now):
		return // it has begun
	case !ok:
		c.cancel(k)
	case d < 0:
		c.cancel(k)
		return
	case scheduled:
		return // another time does not change a time that is set
	}
	c.due[k] = now.Add(d)
	c.evictions.AddAfter(k, d)
}

// toleration returns for how long a Pod tolerates taints; less than 0 is for ever. It
// returns false if it does not tolerate one of them.
func toleration(pod *controller.Object, taints []object.View) (time.Duration, bool) {
	least := int64(math.MaxInt64)
	for _, taint := range taints {
		t := controller.Toleration(spec(pod, "tolerations"), taint)
		if t.IsNil() {
			return 0, false
		}
		if seconds, ok := t.Int("tolerationSeconds"); ok {
			least = min(least, max(0, seconds))
		}
	}
	if least == math.MaxInt64 {
		return -1, true
	}
	return time.Duration(least) * time.Second, true
}

// reference returns a reference to a Pod as Events of this controller have it.
func reference(k controller.Key) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Pod", "namespace": k.Namespace, "name": k.Name}
}

// cancel cancels the eviction of a Pod that has not begun.
func (c *evictor) cancel(k controller.Key) {
	if _, ok := c.due[k]; ok {
		delete(c.due, k)
		c.recorder.EventFor(reference(k), controller.Normal, "TaintManagerEviction", "Cancelling deletion of Pod %s", k)
	}
}

// evict deletes a Pod whose toleration is over.
func (c *evictor) evict(k controller.Key) error {
	if c.evictions.Failures(k) == 0 {
		at, ok := c.due[k]
		if !ok {
			return nil // cancelled
		}
		if left := at.Sub(c.env.Now()); left > 0 {
			c.evictions.AddAfter(k, left)
			return nil
		}
		delete(c.due, k)
		c.recorder.EventFor(reference(k), controller.Normal, "TaintManagerEviction", "Marking for deletion Pod %s", k)
	}
	pod, err := c.client.Get(controller.Pods, k.Namespace, k.Name)
	if err != nil {
		return err
	}
	condition := controller.PodCondition(pod.View(), controller.DisruptionTarget, "True", "DeletionByTaintManager",
		"Taint manager: deleting due to NoExecute taint", c.env.Now())
	if condition != nil {
		if err := c.client.PatchPodStatus(pod, map[string]any{"conditions": []any{condition}}); err != nil {
			return err
		}
	}
	return c.client.Delete(controller.Pods, k.Namespace, k.Name, controller.DeleteOptions{})
}
