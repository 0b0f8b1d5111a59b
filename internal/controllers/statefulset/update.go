package statefulset

import (
	"slices"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/release/behavior"
)

// recreateGate is the feature gate of the update strategy Recreate.
const recreateGate = "StatefulSetRecreateStrategy"

// progressing is the condition that an update with the strategy Recreate has.
const progressing = "Progressing"

// outdated reports whether a Pod is to be deleted because it is not of the revision of the
// template.
func (r *run) outdated(p *replica) bool { return p.revision() != r.update.Name && !p.terminating() }

// replace deletes a Pod, in whose place one of the revision of the template comes.
func (r *run) replace(p *replica) error {
	if err := r.delete(p); err != nil {
		return err
	}
	controller.SetCount(r.status, "currentReplicas", controller.Count(r.status, "currentReplicas")-1)
	return nil
}

// roll replaces Pods whose turn it is in a rolling update, those with the highest ordinals first.
func (r *run) roll() error {
	release := r.env.Release()
	rolling := r.spec.At("updateStrategy", "rollingUpdate")
	replicas := r.replicas[min(controller.IntOr(rolling, 0, "partition"), r.count):]
	if !release.Enabled("MaxUnavailableStatefulSet") {
		return r.rollOne(replicas)
	}
	limit := int64(1)
	if v := rolling.At("maxUnavailable"); !v.IsNil() {
		scaled, _ := controller.Scaled(v, r.count, false)
		limit = max(scaled, 1)
	}
	for _, p := range r.replicas {
		if !r.available(p) {
			limit--
		}
	}
	if !r.ordered && release.Has(behavior.ParallelUpdates) {
		return r.rollAvailable(replicas, limit)
	}
	for _, p := range slices.Backward(replicas) {
		if limit > 0 && r.outdated(p) {
			if err := r.replace(p); err != nil {
				return err
			}
			limit--
		}
	}
	return nil
}

// rollOne replaces the last outdated Pod, unless one after it is not available.
func (r *run) rollOne(replicas []*replica) error {
	for _, p := range slices.Backward(replicas) {
		if r.outdated(p) {
			return r.replace(p)
		}
		if !r.available(p) {
			return nil
		}
	}
	return nil
}

// rollAvailable replaces all outdated Pods that are not available, and as many others as limit
// says.
func (r *run) rollAvailable(replicas []*replica, limit int64) error {
	for _, p := range slices.Backward(replicas) {
		if r.outdated(p) && !r.available(p) {
			if err := r.replace(p); err != nil {
				return err
			}
		}
	}
	for _, p := range slices.Backward(replicas) {
		if limit > 0 && r.outdated(p) && r.available(p) {
			if err := r.replace(p); err != nil {
				return err
			}
			limit--
		}
	}
	return nil
}

// deleteOutdated deletes all Pods that are not of the revision of the template. It reports whether
// they are gone.
func (r *run) deleteOutdated() (gone bool, err error) {
	gone = true
	all := slices.Concat(r.replicas, r.condemned)
	_, err = controller.SlowStart(len(all), func(i int) error {
		p := all[i]
		if p.phase() == "" || p.revision() == r.update.Name {
			return nil
		}
		gone = false
		if p.terminating() {
			return nil
		}
		return r.delete(p)
	})
	if err == nil && !gone {
		r.setProgressing("True", "RecreateInProgress", "Deleting old revision pods")
	}
	return gone, err
}

// setProgressing sets the condition Progressing.
func (r *run) setProgressing(status, reason, message string) {
	condition := map[string]any{
		"type": progressing, "status": status, "reason": reason, "message": message, "lastTransitionTime": clock.Timestamp(r.now),
	}
	controller.PutCondition(r.status, condition)
}
