// Package nodelifecycle has the node-lifecycle-controller: it reports Nodes whose
// kubelets are silent as Unknown, taints Nodes that are not ready by their conditions,
// and sets the Pods on them not ready.
//
// See https://kubernetes.io/docs/concepts/architecture/nodes/#node-controller.
package nodelifecycle

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

// The defaults of the flags of kube-controller-manager.
const (
	monitorPeriod      = 5 * time.Second
	monitorGracePeriod = 50 * time.Second // without a heartbeat
	startupGracePeriod = time.Minute      // without a first condition Ready
)

const (
	leaseNamespace = "kube-node-lease"

	// excludeFromDisruption is the label of Nodes that do not count in the state of
	// their zone.
	excludeFromDisruption = "node.kubernetes.io/exclude-disruption"
)

type nodeLifecycle struct {
	env      *controller.Env
	client   *controller.Client
	recorder *controller.Recorder

	nodes  *controller.Informer
	pods   *controller.Informer
	leases *controller.Informer

	nodeQueue *controller.Queue // of Nodes, whose NoSchedule taints and labels are set
	podQueue  *controller.Queue // of Pods that have got a Node
	taintings *controller.Queue // of zones with Nodes that wait for a NoExecute taint

	known   map[string]string // the UIDs of Nodes
	health  map[string]*health
	unseen  *controller.Object // a Lease that the controller has read and the informer may not show
	retries map[string]bool    // Nodes with Pods that could not be set not ready
	zones   map[string]*zone
}

// Start starts the controller.
func Start(e *controller.Env) {
	client := e.Client("node-controller")
	c := &nodeLifecycle{
		env: e, client: client, recorder: e.Recorder(client, "node-controller"),
		known: map[string]string{}, health: map[string]*health{}, retries: map[string]bool{}, zones: map[string]*zone{},
	}
	c.nodeQueue = e.Queue(func(k controller.Key) error {
		// Failures are not repeated before the next change.
		if node := c.nodes.Get("", k.Name); node != nil {
			_ = c.setNoScheduleTaints(node)
			_ = c.setLabels(node)
		}
		return nil
	})
	c.podQueue = e.Queue(c.syncPod)
	c.taintings = e.Queue(func(k controller.Key) error {
		c.taint(c.zones[k.Name], k)
		return nil
	})
	c.nodes = e.Informer(controller.Nodes, func(_, node *controller.Object) {
		if node != nil {
			c.nodeQueue.Add(node.Key())
		}
	})
	c.pods = e.PodsByNode(func(old, pod *controller.Object) {
		if pod == nil {
			return
		}
		if name := nodeOf(pod); name != "" && (old == nil || nodeOf(old) != name) {
			c.podQueue.Add(pod.Key())
		}
	})
	c.leases = e.Informer(controller.Leases)
	e.Every(monitorPeriod, c.monitor)
}

func nodeOf(pod *controller.Object) string { return pod.View().String("spec", "nodeName") }

// monitor checks the heartbeats of all Nodes.
func (c *nodeLifecycle) monitor() error {
	nodes := c.nodes.List("", selector.Labels{})
	for _, node := range nodes {
		if _, ok := c.known[node.Name]; !ok {
			c.event(node.Name, node.UID, "RegisteredNode", "Registered Node "+node.Name+" in Controller")
			c.known[node.Name] = node.UID
			c.zoneOf(node)
			c.removeTaints(node)
		}
		c.zoneOf(node)
	}
	if len(c.known) != len(nodes) {
		for _, name := range slices.Sorted(maps.Keys(c.known)) {
			if c.nodes.Get("", name) == nil {
				c.event(name, c.known[name], "RemovingNode", "Removing Node "+name+" from Controller")
				delete(c.known, name)
				delete(c.health, name)
				delete(c.retries, name)
			}
		}
	}
	ready := map[string][]bool{} // by zone
	for _, node := range nodes {
		if status, ok := c.check(node); ok && !has(node.Labels, excludeFromDisruption) {
			ready[zoneKey(node)] = append(ready[zoneKey(node)], status == "True")
		}
	}
	c.followZones(ready, nodes)
	return nil
}

func has(labels map[string]string, key string) bool {
	_, ok := labels[key]
	return ok
}

// check checks one Node, and does what follows from its condition Ready, whose status it
// returns. It fails if the Node cannot be written.
func (c *nodeLifecycle) check(node *controller.Object) (status string, ok bool) {
	var was string
	for try := 0; ; try++ {
		var err error
		if was, status, err = c.checkHealth(node); err == nil {
			break
		}
		if errors.Is(err, errStaleLeases) {
			return "", false
		}
		if node, err = c.client.Get(controller.Nodes, "", node.Name); err != nil || try == healthUpdateRetries {
			return "", false
		}
	}
	if status == "" {
		return "", true
	}
	c.changeTaints(node, status)
	turned := status != "True" && was == "True"
	if turned {
		c.recorder.EventFor(reference(node.Name, node.UID), controller.Normal, "NodeNotReady", "Node %s status is now: NodeNotReady", node.Name)
	}
	if turned || c.retries[node.Name] && was != "True" {
		if !c.markNotReady(c.pods.By(controller.ByNode, node.Name)) {
			c.retries[node.Name] = true
			return status, true
		}
	}
	delete(c.retries, node.Name)
	return status, true
}

// healthUpdateRetries is how often a write of conditions is repeated.
const healthUpdateRetries = 5

// reference returns a reference to a Node as Events of this controller have it.
func reference(name, uid string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}
}

func (c *nodeLifecycle) event(node, uid, reason, message string) {
	c.recorder.EventFor(reference(node, uid), controller.Normal, reason, "Node %s event: %s", node, message)
}

// syncPod sets a Pod not ready that was bound to a Node that is not ready.
func (c *nodeLifecycle) syncPod(k controller.Key) error {
	pod := c.pods.Get(k.Namespace, k.Name)
	if pod == nil {
		return nil
	}
	h := c.health[nodeOf(pod)]
	if h == nil || h.ready.IsNil() || h.ready.String("status") == "True" || c.nodes.Get("", nodeOf(pod)) == nil {
		return nil
	}
	if !c.markNotReady([]*controller.Object{pod}) {
		c.podQueue.AddRateLimited(k)
	}
	return nil
}

// markNotReady sets the condition Ready of Pods to False. It reports whether it could.
func (c *nodeLifecycle) markNotReady(pods []*controller.Object) bool {
	ok := true
	for _, pod := range pods {
		if s := controller.Condition(pod.View(), "Ready").String("status"); s == "" || s == "False" {
			continue
		}
		changed := pod.Copy()
		condition := controller.ConditionIn(object.Map(changed, "status"), "Ready")
		condition["status"], condition["lastTransitionTime"] = "False", clock.Timestamp(c.env.Now())
		if _, err := c.client.UpdateStatus(controller.Pods, changed); controller.IsNotFound(err) {
			continue
		} else if err != nil {
			ok = false
		}
		c.recorder.Event(pod, controller.Warning, "NodeNotReady", "Node is not ready")
	}
	return ok
}

// setLabels gives a Node the older names of its labels.
func (c *nodeLifecycle) setLabels(node *controller.Object) error {
	labels := map[string]string{}
	for _, name := range []string{"os", "arch"} {
		if value, ok := node.Labels["kubernetes.io/"+name]; ok && node.Labels["beta.kubernetes.io/"+name] != value {
			labels["beta.kubernetes.io/"+name] = value
		}
	}
	if len(labels) == 0 {
		return nil
	}
	_, err := c.client.StrategicPatch(controller.Nodes, "", node.Name, "", map[string]any{"metadata": map[string]any{"labels": labels}})
	return err
}
