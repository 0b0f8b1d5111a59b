package deployment

import (
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// Reasons of the condition Progressing that decide what happens.
const (
	available = "NewReplicaSetAvailable"
	timedOut  = "ProgressDeadlineExceeded"
)

// status returns the status of the Deployment: the sums over its ReplicaSets, and the
// condition Available.
func (r *rollout) status() map[string]any {
	old := object.Map(r.obj, "status")
	s := map[string]any{}
	for _, field := range []string{"collisionCount", "conditions"} {
		if v, ok := old[field]; ok {
			s[field] = v
		}
	}
	var wanted, actual, ready, isAvailable, terminating int64
	all := r.all()
	reported := true
	for _, rs := range all {
		wanted += replicas(rs)
		actual += counter(rs, "replicas")
		ready += counter(rs, "readyReplicas")
		isAvailable += counter(rs, "availableReplicas")
		n, ok := rs.View().Int("status", "terminatingReplicas")
		terminating += n
		reported = reported && (ok || counter(rs, "observedGeneration") == 0)
	}
	controller.SetCount(s, "observedGeneration", controller.IntOr(r.view(), 0, "metadata", "generation"))
	controller.SetCount(s, "replicas", actual)
	if r.newest != nil {
		controller.SetCount(s, "updatedReplicas", counter(r.newest, "replicas"))
	}
	controller.SetCount(s, "readyReplicas", ready)
	controller.SetCount(s, "availableReplicas", isAvailable)
	controller.SetCount(s, "unavailableReplicas", max(0, wanted-isAvailable))
	if reported {
		s["terminatingReplicas"] = terminating
	}
	if isAvailable >= r.replicas-r.maxUnavailable {
		r.setConditionOf(s, "Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
	} else {
		r.setConditionOf(s, "Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
	}
	return s
}

// complete reports whether a status is that of a complete rollout.
func (r *rollout) complete(status map[string]any) bool {
	n := func(field string) int64 { return controller.Count(status, field) }
	return n("updatedReplicas") == r.replicas && n("replicas") == r.replicas && n("availableReplicas") == r.replicas &&
		n("observedGeneration") >= controller.IntOr(r.view(), 0, "metadata", "generation")
}

// progressed reports whether a status is better than the one before.
func (r *rollout) progressed(status map[string]any) bool {
	was := object.Map(r.obj, "status")
	n := controller.Count
	return n(status, "updatedReplicas") > n(was, "updatedReplicas") ||
		n(status, "replicas")-n(status, "updatedReplicas") < n(was, "replicas")-n(was, "updatedReplicas") ||
		n(status, "readyReplicas") > n(was, "readyReplicas") || n(status, "availableReplicas") > n(was, "availableReplicas")
}

// updateRolloutStatus updates the status with the conditions Progressing and
// ReplicaFailure.
func (r *rollout) updateRolloutStatus() error {
	s := r.status()
	if r.deadline == 0 {
		controller.RemoveCondition(s, "Progressing")
	}
	progressing := controller.Condition(r.view(), "Progressing")
	done := progressing.String("reason") == available &&
		controller.Count(s, "replicas") == controller.Count(s, "updatedReplicas")
	if r.deadline > 0 && !done {
		switch {
		case r.complete(s):
			r.setConditionOf(s, "Progressing", "True", available, r.message("has successfully progressed."))
		case r.progressed(s):
			c := r.condition("Progressing", "True", "ReplicaSetUpdated", r.message("is progressing."))
			if progressing.String("status") == "True" {
				c["lastTransitionTime"] = progressing.At("lastTransitionTime").Shared()
			}
			controller.SetCondition(s, c)
		case r.isTimedOut(s):
			r.setConditionOf(s, "Progressing", "False", timedOut, r.message("has timed out progressing."))
		}
	}
	if failure := r.failure(); failure != nil {
		if had := controller.ConditionIn(s, "ReplicaFailure"); object.String(had, "status") != object.String(failure, "status") || had["reason"] != failure["reason"] {
			if object.String(had, "status") == object.String(failure, "status") {
				failure["lastTransitionTime"] = had["lastTransitionTime"]
			}
			controller.SetCondition(s, failure)
		}
	} else if controller.ConditionIn(s, "ReplicaFailure") != nil {
		controller.RemoveCondition(s, "ReplicaFailure")
	}
	if !r.changed && object.Equal(s, r.obj["status"]) {
		r.requeueStuck(s)
		return nil
	}
	return r.updateStatus(s)
}

// isTimedOut reports whether the progress deadline has passed since the last progress.
func (r *rollout) isTimedOut(status map[string]any) bool {
	c := controller.ConditionIn(status, "Progressing")
	switch object.String(c, "reason") {
	case "", available:
		return false
	case timedOut:
		return true
	}
	return controller.Time(object.ViewOf(c), "lastUpdateTime").Add(time.Duration(r.deadline) * time.Second).Before(r.env.Now())
}

// failure returns the condition ReplicaFailure of the newest ReplicaSet, or of another
// one, nil if none has it.
func (r *rollout) failure() map[string]any {
	sets := r.all()
	if r.newest != nil {
		sets = append([]*controller.Object{r.newest}, r.old...)
	}
	for _, rs := range sets {
		if c := controller.Condition(rs.View(), "ReplicaFailure"); !c.IsNil() {
			failure := c.ShallowCopy()
			failure["lastUpdateTime"] = failure["lastTransitionTime"]
			return failure
		}
	}
	return nil
}

// updateStatus writes the status, if it or the annotations have changed.
func (r *rollout) updateStatus(s map[string]any) error {
	if !r.changed && object.Equal(s, r.obj["status"]) {
		return nil
	}
	r.obj["status"] = s
	return r.write()
}

func (r *rollout) condition(typ, status, reason, message string) map[string]any {
	return map[string]any{
		"type": typ, "status": status, "lastUpdateTime": r.now, "lastTransitionTime": r.now, "reason": reason, "message": message,
	}
}

// setCondition sets a condition of the Deployment.
func (r *rollout) setCondition(typ, status, reason, message string) {
	r.setConditionOf(object.EnsureMap(r.obj, "status"), typ, status, reason, message)
}

// setConditionOf sets a condition of a status, unless it has one with the same status
// and reason.
func (r *rollout) setConditionOf(s map[string]any, typ, status, reason, message string) {
	had := controller.ConditionIn(s, typ)
	if had != nil && had["status"] == status && had["reason"] == reason {
		return
	}
	c := r.condition(typ, status, reason, message)
	if had != nil && had["status"] == status {
		c["lastTransitionTime"] = had["lastTransitionTime"]
	}
	controller.SetCondition(s, c)
}
