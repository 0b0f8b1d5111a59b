package pvcprotection

import (
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
)

// unused is the condition that says whether no Pod uses a claim.
const unused = "Unused"

// tracksUse reports whether claims have the condition.
func (c *protection) tracksUse() bool {
	return c.env.Release().Enabled("PersistentVolumeClaimUnusedSinceTime")
}

// track sets the condition of a claim that is not being deleted.
func (c *protection) track(claim *controller.Object) error {
	if c.env.Release().Has(behavior.TracksBoundClaims) && claim.View().String("status", "phase") != "Bound" {
		return nil // the binder writes it
	}
	used, err := c.used(claim, refers)
	if err != nil {
		return err
	}
	condition := map[string]any{"type": unused, "status": "True", "reason": "NoPodsUsingPVC", "message": "No pods are currently referencing this PVC"}
	if used {
		condition["status"], condition["reason"], condition["message"] = "False", "PodUsingPVC", "A pod is currently referencing this PVC"
	}
	if controller.Condition(claim.View(), unused).String("status") == condition["status"] {
		return nil
	}
	condition["lastTransitionTime"] = clock.Timestamp(c.env.Now())
	changed := claim.Copy()
	controller.PutCondition(object.EnsureMap(changed, "status"), condition)
	_, err = c.client.UpdateStatus(controller.PersistentVolumeClaims, changed)
	return err
}

// refers reports whether a Pod refers to a claim and has not ended.
func refers(pod, claim *controller.Object) bool {
	return !controller.PodTerminated(pod) && (names(pod, claim, false) || names(pod, claim, true))
}
