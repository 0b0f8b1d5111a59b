package job

import (
	"slices"
	"strconv"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// maxUncounted is how many Pods one sync counts at most.
const maxUncounted = 500

// track counts the Pods that have ended. Each is first named in the status, then loses
// its finalizer, and is then a number in the status: none is counted twice or not at
// all. changed is whether the status is to be written in any case.
func (r *run) track(changed bool) error {
	if r.indexed {
		sortByIndex(r.pods)
	}
	withFinalizer := map[string]bool{}
	for _, p := range r.pods {
		if p.tracked && !r.removed[p.UID] {
			withFinalizer[p.UID] = true
		}
	}
	changed = r.countRemoved(withFinalizer) || changed
	release, newIndexes, counted, full := r.countEnded(withFinalizer)
	changed = counted || changed
	if r.indexed {
		changed = r.countIndexes(newIndexes) || changed
	}
	changed = r.announceEnd() || changed
	if changed {
		if err := r.write(); err != nil {
			return err
		}
		r.backoffs[r.key] = r.backoff
		changed = false
	}
	err := r.releaseAll(release, withFinalizer)
	changed = r.countRemoved(withFinalizer)
	if err != nil {
		if changed {
			_ = r.write()
		}
		return err
	}
	ended := !full && r.end()
	if !changed && !ended {
		return nil
	}
	if err := r.write(); err != nil {
		return err
	}
	if ended {
		r.recordEnd()
		r.finished[r.object.UID] = true
	}
	return nil
}

// countEnded names the Pods that have ended in the status, or their new indexes, and reports whether it
// has counted any. The finalizers of the Pods in release are to be removed. full is whether more have
// ended than one sync counts.
func (r *run) countEnded(withFinalizer map[string]bool) (release []*pod, newIndexes []int, counted, full bool) {
	for _, p := range r.pods {
		if !withFinalizer[p.UID] || !r.releases(p) {
			continue
		}
		release = append(release, p)
		switch {
		case p.phase == "Succeeded" && !r.uncountedFailed[p.UID]:
			if r.indexed {
				if r.valid(p) && !r.counted.has(p.index) {
					newIndexes = append(newIndexes, p.index)
					counted = true
				}
			} else if !r.uncountedSucceeded[p.UID] {
				r.addUncounted("succeeded", p.UID)
				counted = true
			}
		case r.isFailed(p) || r.finish != nil && !isTrue(r.finish, successCriteriaMet):
			if !r.uncountedFailed[p.UID] && r.valid(p) && r.matchFailure(p).counts {
				r.addUncounted("failed", p.UID)
				counted = true
			}
		}
		if len(newIndexes)+r.uncounted() >= maxUncounted {
			return release, newIndexes, counted, true
		}
	}
	return release, newIndexes, counted, false
}

// countIndexes adds indexes that have completed to the status, and reports whether its texts of
// indexes have changed.
func (r *run) countIndexes(completed []int) (changed bool) {
	s := r.status()
	for _, i := range completed {
		r.completed = r.completed.with(i)
	}
	text := r.completed.String()
	changed = text != object.String(s, "completedIndexes")
	controller.SetCount(s, "succeeded", int64(r.completed.total()))
	setText(s, "completedIndexes", text)
	if r.perIndex {
		if text := r.failedIndexes.String(); s["failedIndexes"] != text {
			s["failedIndexes"] = text
			changed = true
		}
	}
	return changed
}

// announceEnd adds the condition that says how the Job is going to end, and reports whether it is new. The
// Job ends with another one when its Pods have.
func (r *run) announceEnd() (changed bool) {
	s := r.status()
	if r.finish != nil && r.finish["type"] == failureTarget {
		s["conditions"] = append(object.List(s, "conditions"), r.finish)
		changed = true
		r.finish = r.condition(failed, "True", object.String(r.finish, "reason"), object.String(r.finish, "message"))
	}
	if isTrue(r.finish, successCriteriaMet) {
		if !controller.HasCondition(r.view(), successCriteriaMet, "True") {
			s["conditions"] = append(object.List(s, "conditions"), r.finish)
			changed = true
		}
		r.finish = r.condition(complete, "True", object.String(r.finish, "reason"), object.String(r.finish, "message"))
	}
	return changed
}

// releases reports whether a Pod may lose its finalizer.
func (r *run) releases(p *pod) bool {
	if r.object.Terminating || r.finish != nil || p.phase == "Succeeded" {
		return true
	}
	return r.isFailed(p) && !(r.perIndex && p.index != noIndex && r.delayed[p.index] == p)
}

// uncounted returns the number of Pods that the status names.
func (r *run) uncounted() int {
	u := object.Map(r.status(), "uncountedTerminatedPods")
	return len(object.List(u, "succeeded")) + len(object.List(u, "failed"))
}

func (r *run) addUncounted(field, uid string) {
	u := object.Map(r.status(), "uncountedTerminatedPods")
	u[field] = append(object.List(u, field), uid)
}

// countRemoved counts the Pods that the status names and that have no finalizer any
// longer. It reports whether there are any.
func (r *run) countRemoved(withFinalizer map[string]bool) (any bool) {
	u := object.EnsureMap(r.status(), "uncountedTerminatedPods")
	for _, field := range []string{"succeeded", "failed"} {
		uids := object.Strings(u, field)
		kept := slices.DeleteFunc(slices.Clone(uids), func(uid string) bool { return !withFinalizer[uid] })
		if len(kept) == len(uids) {
			continue
		}
		any = true
		controller.SetCount(r.status(), field, r.number(field)+int64(len(uids)-len(kept)))
		if len(kept) == 0 {
			delete(u, field)
		} else {
			u[field] = object.FromStrings(kept)
		}
	}
	return any
}

// releaseAll removes the finalizers of Pods, and removes the Pods from withFinalizer.
func (r *run) releaseAll(pods []*pod, withFinalizer map[string]bool) (failure error) {
	for _, p := range pods {
		if r.removals[r.key] == nil {
			r.removals[r.key] = map[string]bool{}
		}
		r.removals[r.key][p.UID] = true
		err := r.removeFinalizer(p.Object)
		if err != nil {
			delete(r.removals[r.key], p.UID)
			if !controller.IsNotFound(err) {
				if failure == nil {
					failure = err
				}
				continue
			}
		}
		delete(withFinalizer, p.UID)
	}
	return failure
}

// end adds the condition Complete or Failed, unless Pods remain that are not counted or
// not gone. It reports whether it did.
func (r *run) end() bool {
	if r.finish == nil || r.uncounted() > 0 || r.terminating > 0 {
		return false
	}
	r.ensureCondition(object.String(r.finish, "type"), "True", object.String(r.finish, "reason"), object.String(r.finish, "message"))
	if r.finish["type"] == complete {
		r.status()["completionTime"] = r.finish["lastTransitionTime"]
	}
	return true
}

func (r *run) recordEnd() {
	if r.finish["type"] != complete {
		r.recorder.Event(r.object, controller.Warning, object.String(r.finish, "reason"), "%s", object.String(r.finish, "message"))
		return
	}
	if r.hasCompletions && r.number("succeeded") > r.completions {
		r.recorder.Event(r.object, controller.Warning, "TooManySucceededPods", "Too many succeeded pods running after completion count reached")
	}
	r.recorder.Event(r.object, controller.Normal, "Completed", "Job completed")
}

// write writes the status.
func (r *run) write() error {
	updated, err := r.client.UpdateStatus(controller.Jobs, object.Copy(r.obj))
	if err == nil {
		object.Set(r.obj, strconv.FormatInt(int64(updated.Revision), 10), "metadata", "resourceVersion")
	}
	return err
}

func isTrue(condition map[string]any, typ string) bool {
	return condition != nil && condition["type"] == typ && condition["status"] == "True"
}

func setText(m map[string]any, name, text string) {
	if text == "" {
		delete(m, name)
		return
	}
	m[name] = text
}
