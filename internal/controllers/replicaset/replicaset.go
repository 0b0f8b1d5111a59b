// Package replicaset has the replicaset-controller: a ReplicaSet has as many Pods as its
// spec.replicas says. The replicationcontroller-controller is the same one for another
// resource.
//
// See https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/.
package replicaset

import (
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

// A Kind is what differs between ReplicaSets and ReplicationControllers.
type Kind struct {
	Resource  controller.Resource
	Account   string // the service account
	Component string // the source of Events
	// Selector returns what an owner selects; nil is the label selector in
	// spec.selector.
	Selector func(owner *controller.Object) (selector.Labels, error)
	// Terminating is whether the status has terminatingReplicas.
	Terminating bool
}

// maxChanges is how many Pods one sync creates or deletes at most.
const maxChanges = 500

type replicaSets struct {
	kind       Kind
	env        *controller.Env
	client     *controller.Client
	podControl controller.PodControl
	sets       *controller.Informer
	pods       *controller.Informer
	owners     controller.Owners
	expected   *controller.Expectations
	queue      *controller.Queue
}

// Start starts the replicaset-controller.
func Start(e *controller.Env) {
	StartKind(e, Kind{
		Resource: controller.ReplicaSets, Account: "replicaset-controller", Component: "replicaset-controller", Terminating: true,
	})
}

// StartKind starts the controller of a kind.
func StartKind(e *controller.Env, kind Kind) {
	c := &replicaSets{kind: kind, env: e, client: e.Client(kind.Account), expected: e.Expectations()}
	c.podControl = controller.PodControl{Client: c.client, Recorder: e.Recorder(c.client, kind.Component)}
	c.queue = e.Queue(c.sync)
	c.sets = e.OwnedInformer(kind.Resource, c.setChanged)
	c.owners = controller.Owners{Informer: c.sets, Selector: kind.Selector}
	c.pods = e.OwnedInformer(controller.Pods, c.podChanged)
}

func (c *replicaSets) setChanged(old, rs *controller.Object) {
	if rs != nil {
		c.queue.Add(rs.Key())
		return
	}
	c.expected.Forget(old.Key())
	c.queue.Add(old.Key())
}

func (c *replicaSets) podChanged(old, pod *controller.Object) {
	switch {
	case pod == nil || pod.Terminating:
		gone := pod
		if gone == nil {
			gone = old
		}
		if rs := c.owners.Of(gone); rs != nil {
			c.expected.Deleted(rs.Key(), gone.UID)
		}
	case old == nil:
		if rs := c.owners.Of(pod); rs != nil {
			c.expected.Created(rs.Key())
		}
	}
	for _, rs := range c.owners.Affected(old, pod) {
		c.queue.Add(rs.Key())
	}
}

// sync updates the Pods and the status of a ReplicaSet.
func (c *replicaSets) sync(k controller.Key) error {
	rs := c.sets.Get(k.Namespace, k.Name)
	if rs == nil {
		c.expected.Forget(k)
		return nil
	}
	labels, err := c.labels(rs)
	if err != nil {
		return nil // of an object that validation does not let pass
	}
	satisfied := c.expected.Satisfied(k)
	var active []*controller.Object
	terminating := int64(0)
	for _, pod := range controller.Candidates(c.pods, rs) {
		switch {
		case controller.PodEnded(pod.View()):
		case !pod.Terminating:
			active = append(active, pod)
		case pod.View().ControlledBy(rs.UID) && labels.Matches(selector.Map(pod.Labels)):
			terminating++
		}
	}
	claim := controller.Claim{Client: c.client, Owner: rs, Resource: controller.Pods, Selector: labels}
	if active, err = claim.Objects(active); err != nil {
		return err
	}
	var failed error
	if satisfied && !rs.Terminating {
		var created bool
		if created, failed = c.scale(rs, active); created && failed == nil {
			c.queue.Add(k) // one write of the status, with the Pods, is enough
			return nil
		}
	}
	status, err := c.updateStatus(rs, active, terminating, failed)
	if err != nil || failed != nil {
		if err == nil {
			err = failed
		}
		return err
	}
	seconds := controller.IntOr(rs.View(), 0, "spec", "minReadySeconds")
	if seconds > 0 && !object.Equal(status["readyReplicas"], status["availableReplicas"]) {
		c.queue.AddAfter(k, controller.NextAvailable(active, seconds, c.env.Now()))
	}
	return nil
}

func (c *replicaSets) labels(rs *controller.Object) (selector.Labels, error) {
	if c.kind.Selector != nil {
		return c.kind.Selector(rs)
	}
	return controller.LabelSelector(rs.View(), "spec", "selector")
}

// scale creates the Pods that are missing, or deletes those that are too many. It
// reports whether it has created some.
func (c *replicaSets) scale(rs *controller.Object, active []*controller.Object) (created bool, err error) {
	k := rs.Key()
	diff := len(active) - int(controller.IntOr(rs.View(), 1, "spec", "replicas"))
	switch {
	case diff < 0:
		n := min(-diff, maxChanges)
		template := rs.View().At("spec", "template")
		c.expected.ExpectCreations(k, n)
		made, err := controller.SlowStart(n, func(int) error {
			_, err := c.podControl.Create(rs, controller.PodFromTemplate(template, rs))
			if controller.IsTerminatingNamespace(err) {
				return nil
			}
			return err
		})
		for range n - made {
			c.expected.Created(k)
		}
		return made > 0, err
	case diff > 0:
		chosen := c.choose(rs, active, min(diff, maxChanges))
		uids := make([]string, len(chosen))
		for i, pod := range chosen {
			uids[i] = pod.UID
		}
		c.expected.ExpectDeletions(k, uids...)
		var failed error
		for _, pod := range chosen {
			if err := c.podControl.Delete(rs, pod.Name); err != nil {
				c.expected.Deleted(k, pod.UID)
				if failed == nil && !controller.IsNotFound(err) {
					failed = err
				}
			}
		}
		return false, failed
	}
	return false, nil
}

// choose returns n of the Pods for deletion: those that are least far in their start,
// and those on nodes with many Pods of the same owner.
func (c *replicaSets) choose(rs *controller.Object, active []*controller.Object, n int) []*controller.Object {
	if n >= len(active) {
		return active
	}
	onNode := map[string]int{}
	for _, related := range c.siblings(rs) {
		for _, pod := range c.pods.By(controller.ByController, related.UID) {
			if controller.PodActive(pod.View()) {
				onNode[pod.View().String("spec", "nodeName")]++
			}
		}
	}
	ranking := controller.DeletionRanking(active, onNode, c.env.Now())
	return ranking[:n]
}

// siblings returns the ReplicaSets that have the controller of rs.
func (c *replicaSets) siblings(rs *controller.Object) []*controller.Object {
	ref := rs.View().ControllerOf()
	if ref.IsNil() {
		return nil
	}
	return c.sets.By(controller.ByController, ref.String("uid"))
}

// updateStatus writes the status of a ReplicaSet, if it has changed, and returns it.
func (c *replicaSets) updateStatus(rs *controller.Object, active []*controller.Object, terminating int64, failed error) (map[string]any, error) {
	now, obj := c.env.Now(), rs.View()
	seconds := controller.IntOr(obj, 0, "spec", "minReadySeconds")
	template := controller.Labels(obj, "spec", "template", "metadata", "labels")
	var labeled, ready, available int64
	for _, pod := range active {
		if contains(pod.Labels, template) {
			labeled++
		}
		if controller.PodReady(pod.View()) {
			ready++
			if controller.PodAvailable(pod.View(), seconds, now) {
				available++
			}
		}
	}
	old := obj.At("status")
	status := old.ShallowCopy()
	if had := controller.Condition(obj, "ReplicaFailure"); failed != nil && had.IsNil() {
		reason := "FailedCreate"
		if int64(len(active)) > controller.IntOr(obj, 1, "spec", "replicas") {
			reason = "FailedDelete"
		}
		controller.SetCondition(status, map[string]any{
			"type": "ReplicaFailure", "status": "True", "lastTransitionTime": clock.Timestamp(now),
			"reason": reason, "message": failed.Error(),
		})
	} else if failed == nil && !had.IsNil() {
		controller.RemoveCondition(status, "ReplicaFailure")
	}
	status["replicas"] = int64(len(active))
	controller.SetCount(status, "fullyLabeledReplicas", labeled)
	controller.SetCount(status, "readyReplicas", ready)
	controller.SetCount(status, "availableReplicas", available)
	controller.SetCount(status, "observedGeneration", controller.IntOr(obj, 0, "metadata", "generation"))
	if c.kind.Terminating {
		status["terminatingReplicas"] = terminating
	}
	if old.EqualTo(status) {
		return status, nil
	}
	_, err := c.client.WriteStatus(rs, status, 1)
	return status, err
}

// contains reports whether labels has all of the others.
func contains(labels, others map[string]string) bool {
	for k, v := range others {
		if w, ok := labels[k]; !ok || v != w {
			return false
		}
	}
	return true
}
