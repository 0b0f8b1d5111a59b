// Package cronjob has the cronjob-controller: a CronJob creates a Job at each time of
// its schedule.
//
// See https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/.
package cronjob

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/cron"
	"github.com/kubefake/kubefake/internal/object"
)

type cronJobs struct {
	env      *controller.Env
	client   *controller.Client
	recorder *controller.Recorder
	cronJobs *controller.Informer
	jobs     *controller.Informer
	owners   controller.Owners
	queue    *controller.Queue
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &cronJobs{env: e, client: e.Client("cronjob-controller")}
	c.recorder = e.Recorder(c.client, "cronjob-controller")
	c.queue = e.Queue(c.sync)
	c.cronJobs = e.Informer(controller.CronJobs, c.cronJobChanged)
	c.owners = controller.Owners{Informer: c.cronJobs}
	c.jobs = e.OwnedInformer(controller.Jobs, c.jobChanged)
}

// cronJobChanged queues a CronJob: for its next time if the schedule has changed, at
// once otherwise.
func (c *cronJobs) cronJobChanged(old, cj *controller.Object) {
	switch {
	case cj == nil:
		c.queue.Add(old.Key())
		return
	case old == nil:
		c.queue.Add(cj.Key())
		return
	}
	before, after := old.View().At("spec"), cj.View().At("spec")
	if before.At("schedule").Equal(after.At("schedule")) && before.At("timeZone").Equal(after.At("timeZone")) {
		c.queue.Add(cj.Key())
		return
	}
	schedule, err := cron.Parse(scheduleOf(after))
	if err != nil {
		c.recorder.Event(cj, controller.Warning, "UnParseableCronJobSchedule", "unparseable schedule for cronjob: %s", after.String("schedule"))
		return
	}
	c.queue.AddAfter(cj.Key(), untilNext(cj.View(), c.env.Now(), schedule))
}

func (c *cronJobs) jobChanged(old, job *controller.Object) {
	changed := old
	if job != nil {
		changed = job
		if old != nil && job.View().ControllerOf().IsNil() {
			changed = old
		}
	}
	if cj := c.owners.Of(changed); cj != nil {
		c.queue.Add(cj.Key())
	}
}

// sync updates the Jobs and the status of a CronJob.
func (c *cronJobs) sync(k controller.Key) error {
	cj := c.cronJobs.Get(k.Namespace, k.Name)
	if cj == nil {
		return nil
	}
	r := &run{cronJobs: c, object: cj, now: c.env.Now(), jobs: c.jobs.By(controller.ByController, cj.UID)}
	r.read(cj)
	r.cleanup()
	next, err := r.reconcile()
	if r.changed {
		if _, e := c.client.UpdateStatus(controller.CronJobs, object.Copy(r.obj)); e != nil {
			return e
		}
	}
	if err == nil && next > 0 {
		c.queue.AddAfter(k, next)
	}
	return err
}

// A run is one sync of a CronJob.
type run struct {
	*cronJobs
	object  *controller.Object
	obj     map[string]any // a copy of the CronJob, whose status changes
	spec    object.View
	status  map[string]any // of obj
	now     time.Time
	jobs    []*controller.Object
	changed bool // the status is to be written
}

// read makes obj a copy of a version of the CronJob.
func (r *run) read(cj *controller.Object) {
	r.obj, r.spec = cj.Copy(), cj.View().At("spec")
	r.status = object.EnsureMap(r.obj, "status")
}

// view returns the CronJob with its new status.
func (r *run) view() object.View { return object.ViewOf(r.obj) }

// cleanup deletes the oldest finished Jobs that are more than the history has room for.
func (r *run) cleanup() {
	for _, h := range []struct{ condition, limit string }{{"Complete", "successfulJobsHistoryLimit"}, {"Failed", "failedJobsHistoryLimit"}} {
		limit, ok := r.spec.Int(h.limit)
		if !ok {
			continue
		}
		var ended []*controller.Object
		for _, job := range r.jobs {
			if finished(job) == h.condition {
				ended = append(ended, job)
			}
		}
		slices.SortStableFunc(ended, compareStart)
		for _, job := range ended[:max(0, len(ended)-int(limit))] {
			if r.delete(job) {
				r.changed = true
			}
		}
	}
}

// compareStart compares Jobs by the times at which they have started, those that have
// not last.
func compareStart(a, b *controller.Object) int {
	x, y := a.View().String("status", "startTime"), b.View().String("status", "startTime")
	if (x == "") != (y == "") {
		return cmp.Compare(len(y), len(x))
	}
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.Name, b.Name))
}

// delete deletes a Job in the background. It reports whether that succeeded.
func (r *run) delete(job *controller.Object) bool {
	err := r.client.Delete(controller.Jobs, job.Namespace, job.Name, controller.DeleteOptions{Propagation: "Background"})
	if err != nil {
		r.recorder.Event(r.object, controller.Warning, "FailedDelete", "Deleted job: %v", err)
		return false
	}
	r.deactivate(job.UID)
	r.recorder.Event(r.object, controller.Normal, "SuccessfulDelete", "Deleted job %s", job.Name)
	return true
}

// isActive reports whether the status of a CronJob has a Job as active.
func isActive(status object.View, uid string) bool {
	for ref := range status.At("active").Objects() {
		if ref.String("uid") == uid {
			return true
		}
	}
	return false
}

func (r *run) deactivate(uid string) {
	var kept []any
	for ref := range object.Each(r.status["active"]) {
		if object.String(ref, "uid") != uid {
			kept = append(kept, ref)
		}
	}
	if kept == nil {
		delete(r.status, "active")
		return
	}
	r.status["active"] = kept
}

// reconcile updates the status from the Jobs and creates the Job that is due. It returns
// how long it is until the next one is due, 0 if none will be.
func (r *run) reconcile() (time.Duration, error) {
	if err := r.observe(); err != nil {
		return 0, err
	}
	if r.object.Terminating {
		return 0, nil
	}
	if zone, ok := r.spec.At("timeZone").Shared().(string); ok {
		if _, err := time.LoadLocation(zone); err != nil {
			r.recorder.Event(r.object, controller.Warning, "UnknownTimeZone", "invalid timeZone: %q: %v", zone, err)
			return 0, nil
		}
	}
	if r.spec.Bool("suspend") {
		return 0, nil
	}
	text := r.spec.String("schedule")
	if strings.Contains(text, "TZ") {
		r.recorder.Event(r.object, controller.Warning, "UnsupportedSchedule", "CRON_TZ or TZ used in schedule %q is not officially supported, "+
			"see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details", text)
	}
	schedule, err := cron.Parse(scheduleOf(r.spec))
	if err != nil {
		r.recorder.Event(r.object, controller.Warning, "UnparseableSchedule", "unparseable schedule: %q : %v", text, err)
		return 0, nil
	}
	due, err := latest(r.view(), r.now, schedule, true)
	if err != nil {
		r.recorder.Event(r.object, controller.Warning, "InvalidSchedule", "invalid schedule: %s : %v", text, err)
		return 0, nil
	}
	next := untilNext(r.view(), r.now, schedule)
	if due.at.IsZero() {
		return next, nil
	}
	if due.missed > manyMissed {
		r.recorder.Event(r.object, controller.Warning, "TooManyMissedTimes",
			"too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
	if seconds, ok := r.spec.Int("startingDeadlineSeconds"); ok && due.at.Add(time.Duration(seconds)*time.Second).Before(r.now) {
		r.recorder.Event(r.object, controller.Warning, "MissSchedule", "Missed scheduled time to start a job: %s", due.at.UTC().Format(time.RFC1123Z))
		return next, nil
	}
	name := fmt.Sprintf("%s-%d", r.object.Name, due.at.Unix()/60)
	if r.hasActive(name) || controller.Time(r.view(), "status", "lastScheduleTime").Equal(due.at) {
		return next, nil
	}
	switch policy := r.spec.String("concurrencyPolicy"); {
	case policy == "Forbid" && len(object.List(r.status, "active")) > 0:
		r.recorder.Event(r.object, controller.Normal, "JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid")
		return next, nil
	case policy == "Replace":
		if err := r.deleteActive(); err != nil {
			return 0, err
		}
	}
	started, err := r.create(name, due.at)
	if err != nil || !started {
		return 0, err
	}
	return untilNext(r.view(), r.now, schedule), nil
}

// observe updates the active Jobs and the time of the last success in the status.
func (r *run) observe() error {
	children := map[string]bool{}
	for _, job := range r.jobs {
		children[job.UID] = true
		active, condition := isActive(r.view().At("status"), job.UID), finished(job)
		switch {
		case condition == "" && !active:
			fresh, err := r.client.Get(controller.CronJobs, r.object.Namespace, r.object.Name)
			if err != nil {
				return err
			}
			if isActive(fresh.View().At("status"), job.UID) {
				r.read(fresh)
				continue
			}
			r.recorder.Event(r.object, controller.Warning, "UnexpectedJob", "Saw a job that the controller did not create or forgot: %s", job.Name)
		case condition != "" && active:
			r.deactivate(job.UID)
			r.recorder.Event(r.object, controller.Normal, "SawCompletedJob", "Saw completed job: %s, condition: %s", job.Name, condition)
			r.changed = true
		}
		if condition == "Complete" {
			if at := controller.Time(job.View(), "status", "completionTime"); at.After(controller.Time(r.view(), "status", "lastSuccessfulTime")) {
				r.status["lastSuccessfulTime"] = clock.Timestamp(at)
				r.changed = true
			}
		}
	}
	for ref := range object.Each(slices.Clone(object.List(r.status, "active"))) {
		uid := object.String(ref, "uid")
		if children[uid] {
			continue
		}
		_, err := r.client.Get(controller.Jobs, object.String(ref, "namespace"), object.String(ref, "name"))
		if controller.IsNotFound(err) {
			r.recorder.Event(r.object, controller.Normal, "MissingJob", "Active job went missing: %s", object.String(ref, "name"))
			r.deactivate(uid)
			r.changed = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) hasActive(name string) bool {
	for ref := range object.Each(r.status["active"]) {
		if object.String(ref, "name") == name {
			return true
		}
	}
	return false
}

// deleteActive deletes the active Jobs.
func (r *run) deleteActive() error {
	for ref := range object.Each(slices.Clone(object.List(r.status, "active"))) {
		job, err := r.client.Get(controller.Jobs, object.String(ref, "namespace"), object.String(ref, "name"))
		if err != nil {
			r.recorder.Event(r.object, controller.Warning, "FailedGet", "Get job: %v", err)
			return err
		}
		if !r.delete(job) {
			return fmt.Errorf("could not replace job %s", job.Key())
		}
		r.changed = true
	}
	return nil
}

// create creates the Job of a time. It reports false if another one has created it.
func (r *run) create(name string, at time.Time) (bool, error) {
	template := r.spec.At("jobTemplate")
	location := time.UTC
	if zone, ok := r.spec.At("timeZone").Shared().(string); ok {
		var err error
		if location, err = time.LoadLocation(zone); err != nil {
			return false, err
		}
	}
	annotations := template.At("metadata", "annotations").ShallowCopy()
	annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"] = at.In(location).Format(time.RFC3339)
	meta := map[string]any{"name": name, "annotations": annotations, "ownerReferences": []any{controller.ControllerRef(r.object)}}
	if labels := template.At("metadata", "labels"); labels.IsObject() {
		meta["labels"] = labels.Copy()
	}
	job, err := r.client.Create(controller.Jobs, r.object.Namespace, map[string]any{"metadata": meta, "spec": template.At("spec").Copy()})
	switch {
	case controller.IsTerminatingNamespace(err):
		return false, err
	case controller.IsAlreadyExists(err):
		if job, err = r.client.Get(controller.Jobs, r.object.Namespace, name); err != nil {
			return false, err
		}
		if !job.View().ControlledBy(r.object.UID) || isActive(r.view().At("status"), job.UID) {
			return false, nil
		}
	case err != nil:
		r.recorder.Event(r.object, controller.Warning, "FailedCreate", "Error creating job: %v", err)
		return false, err
	default:
		r.recorder.Event(r.object, controller.Normal, "SuccessfulCreate", "Created job %s", name)
	}
	r.status["active"] = append(object.List(r.status, "active"), any(controller.Reference(job)))
	r.status["lastScheduleTime"] = clock.Timestamp(at)
	r.changed = true
	return true, nil
}

// finished returns the type of the condition by which a Job has ended, "" if it has not.
func finished(job *controller.Object) string {
	for _, typ := range []string{"Complete", "Failed"} {
		if controller.HasCondition(job.View(), typ, "True") {
			return typ
		}
	}
	return ""
}
