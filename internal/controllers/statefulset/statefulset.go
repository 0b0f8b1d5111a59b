// Package statefulset has the statefulset-controller: a StatefulSet has Pods with
// ordinals, each with a name and claims of its own.
//
// See https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/.
package statefulset

import (
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/history"
	"github.com/kubefake/kubefake/internal/object"
)

type statefulSets struct {
	env      *controller.Env
	client   *controller.Client
	recorder *controller.Recorder
	history  *history.History
	sets     *controller.Informer
	pods     *controller.Informer
	claims   *controller.Informer
	owners   controller.Owners
	queue    *controller.Queue
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &statefulSets{env: e, client: e.Client("statefulset-controller")}
	c.recorder = e.Recorder(c.client, "statefulset-controller")
	c.queue = e.Queue(c.sync)
	c.sets = e.Informer(controller.StatefulSets, func(old, set *controller.Object) {
		if set == nil {
			set = old
		}
		c.queue.Add(set.Key())
	})
	c.owners = controller.Owners{Informer: c.sets}
	c.pods = e.OwnedInformer(controller.Pods, func(old, pod *controller.Object) {
		for _, set := range c.owners.Affected(old, pod) {
			c.queue.Add(set.Key())
		}
	})
	c.claims = e.Informer(controller.PersistentVolumeClaims)
	c.history = history.New(e, c.client)
}

// sync brings the Pods, the claims, the revisions and the status of a StatefulSet up to
// date.
func (c *statefulSets) sync(k controller.Key) error {
	set := c.sets.Get(k.Namespace, k.Name)
	if set == nil {
		return nil
	}
	labels, err := controller.LabelSelector(set.View(), "spec", "selector")
	if err != nil {
		return nil // of an object that validation does not let pass
	}
	revisions, err := c.history.List(set, labels)
	if err != nil {
		return err
	}
	claim := controller.Claim{Client: c.client, Owner: set, Resource: controller.Pods, Selector: labels}
	members := slices.DeleteFunc(controller.Candidates(c.pods, set), func(pod *controller.Object) bool {
		parent, _ := parse(pod.Name)
		return parent != set.Name
	})
	pods, err := claim.Objects(members)
	if err != nil {
		return err
	}
	r := newRun(c, set, revisions)
	if err := r.reconcile(pods); err != nil {
		return err
	}
	seconds := r.minReady
	if seconds > 0 && !object.Equal(r.status["readyReplicas"], r.status["availableReplicas"]) {
		after := controller.NextAvailable(pods, seconds, r.now)
		if after == 0 {
			after = time.Duration(seconds) * time.Second
		}
		c.queue.AddAfter(k, after)
	}
	return nil
}
