package deployment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// rollingUpdate moves Pods to the newest ReplicaSet: at most maxSurge Pods are more than
// there should be, and at most maxUnavailable of them are not available.
func (r *rollout) rollingUpdate() error {
	if err := r.syncRevision(true); err != nil {
		return err
	}
	scaled, err := r.scaleNewest()
	if err != nil {
		return err
	}
	if !scaled {
		if scaled, err = r.scaleDownOld(); err != nil {
			return err
		}
	}
	return r.finish(scaled)
}

// recreate deletes all old Pods before it creates new ones.
func (r *rollout) recreate() error {
	down := false
	for _, rs := range active(r.old) {
		scaled, err := r.scaleTo(rs, 0, false)
		if err != nil {
			return err
		}
		down = down || scaled
	}
	if down || r.oldPodsRun() {
		return r.finish(true)
	}
	if err := r.syncRevision(true); err != nil {
		return err
	}
	if _, err := r.scaleTo(r.newest, r.replicas, false); err != nil {
		return err
	}
	return r.finish(false)
}

// oldPodsRun reports whether an old ReplicaSet has Pods that have not ended.
func (r *rollout) oldPodsRun() bool {
	for _, rs := range r.old {
		if counter(rs, "replicas") > 0 {
			return true
		}
		for _, pod := range r.pods.By(controller.ByController, rs.UID) {
			if !controller.PodEnded(pod.View()) {
				return true
			}
		}
	}
	return false
}

// finish cleans the history up if the rollout is complete, and updates the status.
func (r *rollout) finish(scaled bool) error {
	if !scaled && r.complete(object.Map(r.obj, "status")) {
		if err := r.cleanup(); err != nil {
			return err
		}
	}
	return r.updateRolloutStatus()
}

// scaleNewest gives the newest ReplicaSet as many replicas as it may have.
func (r *rollout) scaleNewest() (bool, error) {
	has := replicas(r.newest)
	if has > r.replicas {
		return r.scaleTo(r.newest, r.replicas, false)
	}
	return r.scaleTo(r.newest, r.newReplicas(has), false)
}

// scaleDownOld takes replicas from the old ReplicaSets: first those that are not
// available, then as many as are available without being needed.
func (r *rollout) scaleDownOld() (bool, error) {
	old := active(r.old)
	if len(old) == 0 {
		return false, nil
	}
	total, least := int64(0), r.replicas-r.maxUnavailable
	for _, rs := range r.all() {
		total += replicas(rs)
	}
	room := total - least - (replicas(r.newest) - counter(r.newest, "availableReplicas"))
	if room <= 0 {
		return false, nil
	}
	sortByCreation(old)
	scaled := false
	for i, rs := range old {
		unhealthy := min(room, replicas(rs)-counter(rs, "availableReplicas"))
		if unhealthy < 0 { // its status is behind its spec
			return false, nil
		}
		if unhealthy == 0 {
			continue
		}
		if _, err := r.scaleTo(rs, replicas(rs)-unhealthy, false); err != nil {
			return false, nil // the next sync goes on
		}
		room -= unhealthy
		scaled = true
		old[i] = r.current(rs)
	}
	available := int64(0)
	for _, rs := range append(slices.Clone(old), r.newest) {
		available += counter(rs, "availableReplicas")
	}
	for _, rs := range old {
		n := min(replicas(rs), available-least)
		if n <= 0 {
			continue
		}
		if _, err := r.scaleTo(rs, replicas(rs)-n, false); err != nil {
			return false, nil
		}
		available -= n
		scaled = true
	}
	return scaled, nil
}

// current returns the version of an old ReplicaSet that was written last.
func (r *rollout) current(rs *controller.Object) *controller.Object {
	for _, o := range r.old {
		if o.UID == rs.UID {
			return o
		}
	}
	return rs
}

// resize scales the ReplicaSets of a Deployment whose size has changed, or that is
// paused, in proportion to their sizes.
func (r *rollout) resize() error {
	if err := r.syncRevision(false); err != nil {
		return err
	}
	if err := r.scaleAll(); err != nil {
		return err
	}
	if _, back := r.rollbackTo(); r.view().Bool("spec", "paused") && !back {
		if err := r.cleanup(); err != nil {
			return err
		}
	}
	return r.updateStatus(r.status())
}

func (r *rollout) scaleAll() error {
	sets := r.active()
	switch {
	case len(sets) == 0 && len(r.all()) == 0:
		return nil
	case len(sets) <= 1:
		var rs *controller.Object
		if len(sets) == 1 {
			rs = sets[0]
		} else if rs = r.newest; rs == nil {
			old := slices.Clone(r.old)
			sortByCreation(old)
			rs = old[len(old)-1]
		}
		_, err := r.scaleTo(rs, r.replicas, false)
		return err
	case r.saturated():
		for _, rs := range active(r.old) {
			if _, err := r.scaleTo(rs, 0, false); err != nil {
				return err
			}
		}
		return nil
	case !r.rolling:
		return nil
	}
	total, allowed := int64(0), int64(0)
	for _, rs := range sets {
		total += replicas(rs)
	}
	if r.replicas > 0 {
		allowed = r.replicas + r.maxSurge
	}
	toAdd := allowed - total
	slices.SortStableFunc(sets, func(a, b *controller.Object) int {
		order := compareCreation(a, b)
		if toAdd > 0 { // the newer one of two of a size grows first
			order = -order
		}
		return cmp.Or(cmp.Compare(replicas(b), replicas(a)), order)
	})
	sizes := make([]int64, len(sets))
	added := int64(0)
	for i, rs := range sets {
		part := r.proportion(rs, toAdd, added)
		sizes[i] = replicas(rs) + part
		added += part
	}
	sizes[0] = max(0, sizes[0]+toAdd-added) // the largest one takes the rest
	for i, rs := range sets {
		if _, err := r.scaleTo(rs, sizes[i], true); err != nil {
			return err
		}
	}
	return nil
}

// saturated reports whether the newest ReplicaSet has all replicas, and they are
// available.
func (r *rollout) saturated() bool {
	if r.newest == nil {
		return false
	}
	desired, ok := count(r.newest, desiredAnnotation)
	return ok && desired == r.replicas && replicas(r.newest) == r.replicas && counter(r.newest, "availableReplicas") == r.replicas
}

// proportion returns how many of toAdd replicas, of which some are added already, are
// added to a ReplicaSet. They are negative if replicas are removed.
func (r *rollout) proportion(rs *controller.Object, toAdd, added int64) int64 {
	if toAdd == 0 || toAdd == added {
		return 0
	}
	part := -replicas(rs)
	if r.replicas > 0 {
		before, ok := count(rs, maxAnnotation)
		if !ok || before == 0 {
			before = controller.IntOr(r.view(), 0, "status", "replicas")
		}
		if before == 0 {
			part = 0
		} else {
			size := float64(replicas(rs)*(r.replicas+r.maxSurge)) / float64(before)
			part = int64(math.Floor(size+0.5)) - replicas(rs)
		}
	}
	if toAdd > 0 {
		return min(part, toAdd-added)
	}
	return max(part, toAdd-added)
}

// rollbackTo returns the revision that an annotation asks for; 0 is the one before the
// newest.
func (r *rollout) rollbackTo() (revision int64, ok bool) {
	s := r.view().String("metadata", "annotations", rollbackAnnotation)
	if s == "" {
		return 0, false
	}
	revision, err := strconv.ParseInt(s, 10, 64)
	return revision, err == nil
}

// rollback gives the Deployment the template of a revision.
func (r *rollout) rollback(revision int64) error {
	if err := r.syncRevision(true); err != nil {
		return err
	}
	if revision == 0 {
		if revision = lastRevision(r.all()); revision == 0 {
			r.recorder.Event(r.object, controller.Warning, "DeploymentRollbackRevisionNotFound", "Unable to find last revision.")
			return r.endRollback()
		}
	}
	for _, rs := range r.all() {
		if n, err := revisionOf(rs); err != nil || n != revision {
			continue
		}
		was := rs.View().At("spec", "template")
		if sameTemplate(r.view().At("spec", "template"), was) {
			r.recorder.Event(r.object, controller.Warning, "DeploymentRollbackTemplateUnchanged",
				"The rollback revision contains the same template as current deployment %q", r.object.Name)
			return r.endRollback()
		}
		template := was.CopyObject()
		delete(object.Map(template, "metadata", "labels"), hashLabel)
		object.Set(r.obj, template, "spec", "template")
		annotations := map[string]any{}
		for k, v := range object.Map(r.obj, "metadata", "annotations") {
			if ownAnnotations[k] {
				annotations[k] = v
			}
		}
		for k, v := range rs.View().At("metadata", "annotations").Fields() {
			if !ownAnnotations[k] {
				annotations[k] = v.Shared()
			}
		}
		object.Meta(r.obj)["annotations"] = annotations
		err := r.endRollback()
		if err == nil {
			r.recorder.Event(r.object, controller.Normal, "DeploymentRollback", "Rolled back deployment %q to revision %d", r.object.Name, revision)
		}
		return err
	}
	r.recorder.Event(r.object, controller.Warning, "DeploymentRollbackRevisionNotFound", "Unable to find the revision to rollback to.")
	return r.endRollback()
}

// endRollback removes the annotation that asks for the rollback, and writes the
// Deployment.
func (r *rollout) endRollback() error {
	if r.changed {
		if err := r.write(); err != nil {
			return err
		}
	}
	delete(object.Map(r.obj, "metadata", "annotations"), rollbackAnnotation)
	_, err := r.client.Update(controller.Deployments, "", r.obj)
	return err
}

// checkPaused sets the condition Progressing of a Deployment that was paused or resumed,
// so that the time of the pause does not count against the progress deadline.
func (r *rollout) checkPaused() {
	if r.deadline == 0 {
		return
	}
	reason := controller.Condition(r.view(), "Progressing").String("reason")
	paused := r.view().Bool("spec", "paused")
	switch {
	case reason == timedOut:
	case paused && reason != "DeploymentPaused":
		r.setCondition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused")
		r.changed = true
	case !paused && reason == "DeploymentPaused":
		r.setCondition("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed")
		r.changed = true
	}
}

// message returns a message about the newest ReplicaSet, or about the Deployment if it
// has none.
func (r *rollout) message(does string) string {
	if r.newest != nil {
		return fmt.Sprintf("ReplicaSet %q %s", r.newest.Name, does)
	}
	return fmt.Sprintf("Deployment %q %s", r.object.Name, does)
}
