// Package daemonset has the daemonset-controller: a DaemonSet has a Pod on each Node
// that its template fits.
//
// See https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/.
package daemonset

import (
	"fmt"
	"maps"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/history"
	"github.com/kubefake/kubefake/internal/selector"
)

type daemonSets struct {
	env        *controller.Env
	client     *controller.Client
	recorder   *controller.Recorder
	podControl controller.PodControl
	history    *history.History
	sets       *controller.Informer
	pods       *controller.Informer
	nodes      *controller.Informer
	owners     controller.Owners
	expected   *controller.Expectations
	queue      *controller.Queue
	failures   map[string]map[string]failures // by the UID of the DaemonSet and the name of the Node
}

// failures are the failed Pods on a Node.
type failures struct {
	generation int64 // of the DaemonSet
	delay      time.Duration
	last       time.Time
}

// A failed Pod is deleted at once the first time, then after minFailureDelay, which
// doubles up to maxFailureDelay.
const (
	minFailureDelay = time.Second
	maxFailureDelay = 15 * time.Minute
)

// Start starts the controller.
func Start(e *controller.Env) {
	c := &daemonSets{env: e, client: e.Client("daemon-set-controller"), expected: e.Expectations(), failures: map[string]map[string]failures{}}
	c.recorder = e.Recorder(c.client, "daemonset-controller")
	c.podControl = controller.PodControl{Client: c.client, Recorder: c.recorder}
	c.queue = e.Queue(c.sync)
	c.sets = e.Informer(controller.DaemonSets, c.setChanged)
	c.owners = controller.Owners{Informer: c.sets}
	c.pods = e.OwnedInformer(controller.Pods, c.podChanged)
	c.nodes = e.Informer(controller.Nodes, c.nodeChanged)
	c.history = history.New(e, c.client)
	e.Informer(controller.ControllerRevisions, func(old, revision *controller.Object) {
		for _, ds := range c.owners.Affected(old, revision) {
			c.queue.Add(ds.Key())
		}
	})
}

func (c *daemonSets) setChanged(old, ds *controller.Object) {
	if ds == nil {
		c.expected.Forget(old.Key())
		delete(c.failures, old.UID)
		ds = old
	}
	c.queue.Add(ds.Key())
}

func (c *daemonSets) podChanged(old, pod *controller.Object) {
	switch {
	case pod == nil || pod.Terminating:
		gone := pod
		if gone == nil {
			gone = old
		}
		if ds := c.owners.Of(gone); ds != nil {
			c.expected.Deleted(ds.Key(), gone.UID)
		}
	case old == nil:
		if ds := c.owners.Of(pod); ds != nil {
			c.expected.Created(ds.Key())
		}
	}
	for _, ds := range c.owners.Affected(old, pod) {
		c.queue.Add(ds.Key())
	}
}

// nodeChanged queues the DaemonSets whose Pods on a Node are missing or too many since
// its labels or taints have changed.
func (c *daemonSets) nodeChanged(old, node *controller.Object) {
	if node == nil || old != nil && maps.Equal(old.Labels, node.Labels) &&
		old.View().At("spec", "taints").Equal(node.View().At("spec", "taints")) {
		return
	}
	for _, ds := range c.sets.List("", selector.Labels{}) {
		should, may := newTemplate(ds).fits(node)
		has := false
		for _, pod := range c.pods.By(controller.ByController, ds.UID) {
			has = has || targetNode(pod.View()) == node.Name
		}
		if should && !has || !may && has || has && controller.IntOr(ds.View(), 0, "status", "numberMisscheduled") > 0 {
			c.queue.Add(ds.Key())
		}
	}
}

// sync updates the Pods, the revisions and the status of a DaemonSet.
func (c *daemonSets) sync(k controller.Key) error {
	ds := c.sets.Get(k.Namespace, k.Name)
	if ds == nil {
		c.expected.Forget(k)
		return nil
	}
	labels, err := controller.LabelSelector(ds.View(), "spec", "selector")
	if err != nil {
		return nil // of an object that validation does not let pass
	}
	if labels.Empty() {
		c.recorder.Event(ds, controller.Warning, "SelectingAll", "This daemon set is selecting all pods. A non-empty selector is required.")
		return nil
	}
	if ds.Terminating {
		return nil
	}
	r := newRun(c, ds)
	if err := r.findRevisions(labels); err != nil {
		return fmt.Errorf("failed to construct revisions of DaemonSet: %w", err)
	}
	satisfied := c.expected.Satisfied(k)
	claim := controller.Claim{Client: c.client, Owner: ds, Resource: controller.Pods, Selector: labels}
	if r.pods, err = claim.Objects(controller.Candidates(c.pods, ds)); err != nil {
		return err
	}
	r.group()
	if satisfied {
		err = r.update()
	}
	if e := r.updateStatus(satisfied); err == nil {
		err = e
	}
	return err
}
