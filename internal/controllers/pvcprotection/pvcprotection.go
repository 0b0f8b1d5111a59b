// Package pvcprotection has the persistentvolumeclaim-protection-controller: a
// PersistentVolumeClaim that a Pod uses is not removed, and a condition says whether a Pod uses it.
//
// See https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection.
package pvcprotection

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/selector"
)

const finalizer = "kubernetes.io/pvc-protection"

type protection struct {
	env    *controller.Env
	client *controller.Client
	claims *controller.Informer
	pods   *controller.Informer
	queue  *controller.Queue
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &protection{env: e, client: e.Client("pvc-protection-controller")}
	c.queue = e.Queue(c.sync)
	c.claims = e.Informer(controller.PersistentVolumeClaims, func(_, claim *controller.Object) {
		if claim == nil {
			return
		}
		// A claim has the finalizer until it is deleted, and only then has none.
		if claim.Terminating == slices.Contains(claim.Finalizers(), finalizer) ||
			c.tracksUse() && controller.Condition(claim.View(), unused).IsNil() {
			c.queue.Add(claim.Key())
		}
	})
	c.pods = e.PodsByClaim(c.podChanged)
}

// podChanged queues the claims of a Pod that may have ceased to use them or, if that is tracked, may
// have begun to.
func (c *protection) podChanged(old, pod *controller.Object) {
	if pod == nil {
		c.enqueue(old)
		return
	}
	if c.tracksUse() || controller.PodEnded(pod.View()) || pod.View().String("spec", "nodeName") == "" {
		c.enqueue(pod)
	}
	if old != nil && old.UID != pod.UID {
		c.enqueue(old)
	}
}

func (c *protection) enqueue(pod *controller.Object) {
	for _, k := range controller.PodClaims(pod) {
		c.queue.Add(k)
	}
}

// sync removes the finalizer of a claim that is being deleted and that no Pod uses. It adds it to
// a claim that is not being deleted, whose condition it sets.
func (c *protection) sync(k controller.Key) error {
	claim := c.claims.Get(k.Namespace, k.Name)
	if claim == nil {
		return nil
	}
	if !claim.Terminating && c.tracksUse() {
		if err := c.track(claim); err != nil {
			return err
		}
	}
	protected := slices.Contains(claim.Finalizers(), finalizer)
	if claim.Terminating && protected {
		used, err := c.used(claim, uses)
		if err != nil || used {
			return err
		}
		return c.client.RemoveFinalizer(claim, finalizer)
	}
	if !claim.Terminating && !protected {
		return c.client.AddFinalizer(claim, finalizer)
	}
	return nil
}

// used reports whether a Pod uses a claim, as by says. The newest Pods count, not only those that
// the informer shows.
func (c *protection) used(claim *controller.Object, by func(pod, claim *controller.Object) bool) (bool, error) {
	uses := func(pod *controller.Object) bool { return by(pod, claim) }
	if slices.ContainsFunc(c.pods.By(controller.ByClaim, claim.Key().String()), uses) {
		return true, nil
	}
	live, err := c.client.List(controller.Pods, claim.Namespace, selector.Labels{})
	if err != nil {
		return false, fmt.Errorf("live list of pods failed: %w", err)
	}
	return slices.ContainsFunc(live, func(pod *controller.Object) bool {
		shown := c.pods.Get(pod.Namespace, pod.Name)
		return (shown == nil || shown.Revision != pod.Revision) && uses(pod)
	}), nil
}

// uses reports whether a Pod that has a node uses a claim. An ephemeral volume uses the
// claim that the Pod owns, until the kubelet is done with the Pod.
func uses(pod, claim *controller.Object) bool {
	grace, ok := pod.View().Int("metadata", "deletionGracePeriodSeconds")
	down := pod.Terminating && ok && grace == 0
	return pod.View().String("spec", "nodeName") != "" && (names(pod, claim, false) || !down && names(pod, claim, true))
}

// names reports whether a volume of a Pod names a claim, or an ephemeral volume the claim that the
// Pod owns.
func names(pod, claim *controller.Object, ephemeral bool) bool {
	for v := range pod.View().At("spec", "volumes").Objects() {
		if pods.VolumeClaimName(pod.Name, v) == claim.Name && v.IsNil("ephemeral") != ephemeral &&
			(!ephemeral || claim.View().ControlledBy(pod.UID)) {
			return true
		}
	}
	return false
}
