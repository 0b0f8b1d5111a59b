package resourceclaim

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// syncClaim removes the Pods that never run again from the reservations of a claim. A claim
// that nothing uses any more is deallocated, and deleted if it was created for a Pod.
func (c *claims) syncClaim(k controller.Key) error {
	claim := c.claims.Get(k.Namespace, k.Name)
	if claim == nil {
		return nil
	}
	reserved := claim.View().At("status", "reservedFor")
	var remaining []any
	for ref := range reserved.Objects() {
		uses, err := c.uses(claim.Namespace, ref)
		if err != nil {
			return err
		}
		if uses {
			remaining = append(remaining, ref.Shared())
		}
	}
	protected := slices.Contains(claim.Finalizers(), finalizer)
	released := len(remaining) < reserved.Len()
	if released || protected && claim.Terminating && len(remaining) == 0 {
		if err := c.release(claim, remaining, protected && len(remaining) == 0); err != nil {
			return err
		}
	}
	if len(remaining) > 0 {
		return nil
	}
	ref := claim.View().ControllerOf()
	if ref.String("kind") != "Pod" || ref.String("apiVersion") != "v1" {
		return nil
	}
	pod := c.pods.Get(claim.Namespace, ref.String("name"))
	if pod == nil || pod.UID == ref.String("uid") && !isDone(pod) {
		return nil // the garbage collector deletes the claims of a Pod that is gone
	}
	if err := c.client.Delete(controller.ResourceClaims, claim.Namespace, claim.Name, controller.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete unused generated claim %s: %w", claim.Key(), err)
	}
	return nil
}

// uses reports whether a consumer of a claim may still use it. Those that are not Pods do.
func (c *claims) uses(namespace string, ref object.View) (bool, error) {
	if ref.String("apiGroup") != "" || ref.String("resource") != "pods" {
		return true, nil
	}
	name, uid := ref.String("name"), ref.String("uid")
	if pod := c.pods.Get(namespace, name); pod != nil {
		return pod.UID == uid && !isDone(pod), nil
	}
	pod, err := c.client.Get(controller.Pods, namespace, name) // the informer may lag
	if controller.IsNotFound(err) {
		return false, nil
	}
	return err == nil && pod.UID == uid, err
}

// release writes what remains of the reservations. A claim that is free has no allocation
// and no finalizer after it.
func (c *claims) release(claim *controller.Object, remaining []any, free bool) error {
	changed := claim.Copy()
	status := object.EnsureMap(changed, "status")
	before := object.ShallowCopy(status)
	delete(status, "reservedFor")
	if len(remaining) > 0 {
		status["reservedFor"] = remaining
	}
	if free {
		delete(status, "allocation")
	}
	if !object.Equal(before, status) {
		updated, err := c.client.UpdateStatus(controller.ResourceClaims, changed)
		if err != nil {
			return err
		}
		claim = updated
	}
	if !free {
		return nil
	}
	return c.client.RemoveFinalizer(claim, finalizer)
}
