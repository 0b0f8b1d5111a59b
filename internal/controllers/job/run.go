package job

import (
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// Types of conditions of Jobs.
const (
	complete           = "Complete"
	failed             = "Failed"
	failureTarget      = "FailureTarget"      // the Job is going to be Failed
	successCriteriaMet = "SuccessCriteriaMet" // the Job is going to be Complete
	suspended          = "Suspended"
)

// A pod is what a sync reads of a Pod.
type pod struct {
	*controller.Object
	obj     object.View
	phase   string
	index   int  // the completion index, or noIndex
	tracked bool // it has the finalizer, or gets it when it is adopted
}

// A run is one sync of a Job.
type run struct {
	*jobs
	key    controller.Key
	object *controller.Object
	obj    map[string]any // a copy of the Job, whose status changes
	spec   object.View
	now    time.Time

	pods, active []*pod
	ready        int64
	terminating  int64
	succeeded    int64 // Pods, counted or not; of an indexed Job, indexes
	failedPods   int64

	uncountedSucceeded, uncountedFailed map[string]bool // UIDs of Pods
	removed                             map[string]bool // UIDs of Pods without the finalizer

	indexed, perIndex  bool
	suspend            bool
	replaceFailedOnly  bool // terminating Pods are not replaced yet
	completions        int64
	hasCompletions     bool
	counted, completed intervals // succeeded indexes: those that the status has, and all
	failedIndexes      intervals
	delayed            map[int]*pod // failed Pods that keep their finalizer until they are replaced, by index

	backoff backoff
	finish  map[string]any // the condition with which the Job ends, nil if it does not
}

func newRun(c *jobs, job *controller.Object, claimed []*controller.Object) *run {
	obj := job.Copy()
	r := &run{
		jobs: c, key: job.Key(), object: job, obj: obj, spec: job.View().At("spec"), now: c.env.Now(),
		uncountedSucceeded: map[string]bool{}, uncountedFailed: map[string]bool{}, removed: map[string]bool{},
	}
	r.indexed = r.spec.String("completionMode") == "Indexed"
	r.perIndex = !r.spec.IsNil("backoffLimitPerIndex")
	r.suspend = r.spec.Bool("suspend")
	r.replaceFailedOnly = r.spec.String("podReplacementPolicy") == "Failed" || !r.spec.IsNil("podFailurePolicy")
	r.completions, r.hasCompletions = r.spec.Int("completions")
	uncounted := object.EnsureMap(object.EnsureMap(obj, "status"), "uncountedTerminatedPods")
	for _, uid := range object.Strings(uncounted, "succeeded") {
		r.uncountedSucceeded[uid] = true
	}
	for _, uid := range object.Strings(uncounted, "failed") {
		r.uncountedFailed[uid] = true
	}
	for uid := range c.removals[r.key] {
		r.removed[uid] = true
	}
	for _, o := range claimed {
		p := &pod{Object: o, obj: o.View(), index: indexOf(o.View())}
		p.phase = p.obj.String("status", "phase")
		p.tracked = hasFinalizer(o) || p.obj.ControllerOf().IsNil()
		r.pods = append(r.pods, p)
		switch {
		case controller.PodActive(p.obj):
			r.active = append(r.active, p)
			if controller.PodReady(p.obj) {
				r.ready++
			}
		case p.Terminating && !controller.PodEnded(p.obj):
			r.terminating++
		}
	}
	return r
}

// view returns the Job with its new status.
func (r *run) view() object.View { return object.ViewOf(r.obj) }

func (r *run) status() map[string]any { return object.Map(r.obj, "status") }

// number returns a number of the status.
func (r *run) number(name string) int64 { return controller.Count(r.status(), name) }

// isFailed reports whether a Pod counts as failed.
func (r *run) isFailed(p *pod) bool {
	return p.phase == failed || !r.replaceFailedOnly && p.Terminating && p.phase != "Succeeded"
}

// valid reports whether a Pod has an index that the Job uses, if it uses any.
func (r *run) valid(p *pod) bool {
	return !r.indexed || p.index != noIndex && int64(p.index) < r.completions
}

// uncountedPods returns the Pods that the status does not count yet and for which f
// returns true. seen are the UIDs of those that it is about to count.
func (r *run) uncountedPods(seen map[string]bool, f func(*pod) bool) (out []*pod) {
	for _, p := range r.pods {
		if p.tracked && !seen[p.UID] && !r.removed[p.UID] && r.valid(p) && f(p) {
			out = append(out, p)
		}
	}
	return out
}

// reconcile decides whether the Job ends, creates or deletes Pods, and writes the
// status. satisfied is whether the informers show the Pods that the controller has
// created and deleted.
func (r *run) reconcile(satisfied bool) error {
	newSucceeded := r.uncountedPods(r.uncountedSucceeded, func(p *pod) bool { return p.phase == "Succeeded" })
	newFailed := r.uncountedPods(r.uncountedFailed, r.isFailed)
	r.succeeded = r.number("succeeded") + int64(len(newSucceeded)+len(r.uncountedSucceeded))
	r.failedPods = r.number("failed") + int64(len(r.uncountedFailed))
	for _, p := range newFailed {
		if r.matchFailure(p).counts {
			r.failedPods++
		}
	}
	if r.status()["startTime"] == nil && !r.suspend {
		r.status()["startTime"] = clock.Timestamp(r.now)
	}
	r.backoff = r.backoffs[r.key].after(newSucceeded, newFailed)
	r.evaluate()

	active, changed := int64(len(r.active)), false
	var failure error
	if r.finish != nil {
		deleted, err := r.deleteActive()
		if deleted != active || !satisfied {
			r.finish = nil // Pods may remain
		}
		active -= deleted
		failure = err
	} else {
		managed := satisfied && !r.object.Terminating
		if managed {
			active, failure = r.manage()
		}
		switch {
		case active == 0 && (r.hasCompletions && r.succeeded >= r.completions || !r.hasCompletions && r.succeeded > 0):
			r.finish = r.condition(successCriteriaMet, "True", "CompletionsReached", "Reached expected number of succeeded pods")
		case managed:
			changed = r.updateSuspended()
		}
	}
	s := r.status()
	ready, hasReady := object.Int(s, "ready")
	terminating, hasTerminating := object.Int(s, "terminating")
	changed = changed || active != r.number("active") || !hasReady || ready != r.ready || !hasTerminating || terminating != r.terminating
	controller.SetCount(s, "active", active)
	s["ready"], s["terminating"] = r.ready, r.terminating
	if err := r.track(changed); err != nil {
		return err
	}
	return failure
}

// evaluate sets the condition with which the Job ends, if it does.
func (r *run) evaluate() {
	limit := controller.IntOr(r.spec, 6, "backoffLimit")
	if c := controller.Condition(r.view(), successCriteriaMet); c.String("status") == "True" {
		r.finish = c.CopyObject()
	} else if c := controller.Condition(r.view(), failureTarget); c.String("status") == "True" {
		r.finish = r.condition(failed, "True", c.String("reason"), c.String("message"))
	} else if message := r.failMessage(); message != "" {
		r.finish = r.condition(failureTarget, "True", "PodFailurePolicy", message)
	}
	deadline, hasDeadline := r.spec.Int("activeDeadlineSeconds")
	since := r.now.Sub(controller.Time(r.view(), "status", "startTime"))
	switch {
	case r.finish != nil:
	case r.failedPods > limit || r.restartsExceed(limit):
		r.fail("BackoffLimitExceeded", "Job has reached the specified backoff limit")
	case !hasDeadline || r.suspend:
	case since >= time.Duration(deadline)*time.Second:
		r.fail("DeadlineExceeded", "Job was active longer than specified deadline")
	default:
		r.queue.AddAfter(r.key, time.Duration(deadline)*time.Second-since)
	}
	if r.indexed {
		r.evaluateIndexes()
	}
}

func (r *run) evaluateIndexes() {
	r.counted = parseIntervals(object.String(r.status(), "completedIndexes"), int(r.completions))
	r.completed = r.counted
	for _, p := range r.pods {
		if p.phase == "Succeeded" && r.valid(p) && p.tracked {
			r.completed = r.completed.with(p.index)
		}
	}
	r.succeeded = int64(r.completed.total())
	if r.perIndex {
		r.failedIndexes = parseIntervals(object.String(r.status(), "failedIndexes"), int(r.completions))
		for _, p := range r.pods {
			if r.valid(p) && p.tracked && r.indexFailed(p) {
				r.failedIndexes = r.failedIndexes.with(p.index)
			}
		}
		n := int64(r.failedIndexes.total())
		if most, ok := r.spec.Int("maxFailedIndexes"); r.finish != nil {
		} else if ok && n > most {
			r.fail("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes")
		} else if n > 0 && n+r.succeeded >= r.completions {
			r.fail("FailedIndexes", "Job has failed indexes")
		}
		r.delayDeletions()
	}
	if r.finish == nil {
		if message, ok := matchSuccess(r.spec.At("successPolicy"), int(r.completions), r.completed); ok {
			r.finish = r.condition(successCriteriaMet, "True", "SuccessPolicy", message)
		}
	}
}

// delayDeletions finds the failed Pods that keep their finalizer until another Pod of
// their index exists: it takes over their number of failures.
func (r *run) delayDeletions() {
	running := indexes(r.active)
	r.delayed = map[int]*pod{}
	for _, p := range r.uncountedPods(nil, r.isFailed) {
		if r.completed.has(p.index) || r.failedIndexes.has(p.index) || running.has(p.index) {
			continue
		}
		last := r.delayed[p.index]
		if last == nil || allFailures(last) <= allFailures(p) && !finishedAt(p).Before(finishedAt(last)) {
			r.delayed[p.index] = p
		}
	}
}

func (r *run) fail(reason, message string) {
	r.finish = r.condition(failureTarget, "True", reason, message)
}

// restartsExceed reports whether containers that restart in their Pods have failed too
// often.
func (r *run) restartsExceed(limit int64) bool {
	if r.spec.String("template", "spec", "restartPolicy") != "OnFailure" {
		return false
	}
	n := int64(0)
	for _, p := range r.pods {
		if p.phase != "Running" && p.phase != "Pending" {
			continue
		}
		for _, field := range []string{"initContainerStatuses", "containerStatuses"} {
			for s := range p.obj.At("status", field).Objects() {
				n += controller.IntOr(s, 0, "restartCount")
			}
		}
	}
	return n > 0 && n >= limit
}

// updateSuspended sets the condition Suspended, and reports whether it has changed.
func (r *run) updateSuspended() bool {
	if r.suspend {
		if !r.ensureCondition(suspended, "True", "JobSuspended", "Job suspended") {
			return false
		}
		r.recorder.Event(r.object, controller.Normal, "Suspended", "Job suspended")
		delete(r.status(), "startTime")
		return true
	}
	if !r.ensureCondition(suspended, "False", "JobResumed", "Job resumed") {
		return false
	}
	r.recorder.Event(r.object, controller.Normal, "Resumed", "Job resumed")
	r.status()["startTime"] = clock.Timestamp(r.now)
	return true
}

func (r *run) condition(typ, status, reason, message string) map[string]any {
	now := clock.Timestamp(r.now)
	return map[string]any{"type": typ, "status": status, "lastProbeTime": now, "lastTransitionTime": now, "reason": reason, "message": message}
}

// ensureCondition sets a condition, and reports whether it has changed. A condition that
// is absent is not added as False.
func (r *run) ensureCondition(typ, status, reason, message string) bool {
	s := r.status()
	list := object.List(s, "conditions")
	for i := range list {
		c, _ := list[i].(map[string]any)
		if object.String(c, "type") != typ {
			continue
		}
		if c["status"] == status && c["reason"] == reason && c["message"] == message {
			return false
		}
		list[i] = r.condition(typ, status, reason, message)
		return true
	}
	if status == "False" {
		return false
	}
	s["conditions"] = append(list, r.condition(typ, status, reason, message))
	return true
}
