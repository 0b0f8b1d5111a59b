// Package job has the job-controller: a Job runs Pods until enough of them have
// succeeded, or too many have failed.
//
// See https://kubernetes.io/docs/concepts/workloads/controllers/job/.
package job

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/selector"
)

// trackingFinalizer is the finalizer of Pods that the status of their Job does not count
// yet.
const trackingFinalizer = "batch.kubernetes.io/job-tracking"

// controllerName is the value of spec.managedBy for Jobs of this controller.
const controllerName = "kubernetes.io/job-controller"

// batchPeriod is how long the controller waits after a change of a Pod or of the status of
// a Job for other ones.
const batchPeriod = time.Second

type jobs struct {
	env        *controller.Env
	client     *controller.Client
	recorder   *controller.Recorder
	podControl controller.PodControl
	jobs       *controller.Informer
	pods       *controller.Informer
	owners     controller.Owners
	queue      *controller.Queue
	orphans    *controller.Queue // of Pods whose finalizer no Job removes
	expected   *controller.Expectations
	removals   map[controller.Key]map[string]bool // UIDs of Pods without the finalizer, which the informer does not show yet
	finished   map[string]bool                    // UIDs of Jobs that are finished, which the informer does not show yet
	backoffs   map[controller.Key]backoff
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &jobs{
		env: e, client: e.Client("job-controller"), expected: e.Expectations(),
		removals: map[controller.Key]map[string]bool{}, finished: map[string]bool{}, backoffs: map[controller.Key]backoff{},
	}
	c.recorder = e.Recorder(c.client, "job-controller")
	c.podControl = controller.PodControl{Client: c.client, Recorder: c.recorder}
	limits := controller.QueueOptions{MinBackoff: time.Second, MaxBackoff: time.Minute}
	c.queue = e.Queue(c.sync, limits)
	c.orphans = e.Queue(c.syncOrphan, limits)
	c.jobs = e.Informer(controller.Jobs, c.jobChanged)
	c.owners = controller.Owners{Informer: c.jobs}
	c.pods = e.OwnedInformer(controller.Pods, c.podChanged)
}

func (c *jobs) jobChanged(old, job *controller.Object) {
	switch {
	case job == nil:
		delete(c.finished, old.UID)
		delete(c.backoffs, old.Key())
		c.releasePods(old)
		c.queue.Add(old.Key())
	case isFinished(job):
		c.releasePods(job)
		c.queue.Add(job.Key())
	case old != nil && generation(old) == generation(job):
		c.queue.AddBatched(job.Key(), batchPeriod)
	default:
		c.queue.Add(job.Key())
	}
}

func generation(o *controller.Object) int64 {
	n, _ := o.View().Int("metadata", "generation")
	return n
}

// releasePods queues the Pods of a Job that has ended for the removal of the finalizer.
func (c *jobs) releasePods(job *controller.Object) {
	labels, err := controller.LabelSelector(job.View(), "spec", "selector")
	if err != nil {
		return
	}
	for _, pod := range controller.Candidates(c.pods, job) {
		if labels.Matches(selector.Map(pod.Labels)) && hasFinalizer(pod) {
			c.orphans.Add(pod.Key())
		}
	}
}

func (c *jobs) podChanged(old, pod *controller.Object) {
	if pod == nil || pod.Terminating {
		gone := pod
		if gone == nil {
			gone = old
		}
		job := c.owners.Of(gone)
		if job == nil || isFinished(job) {
			if hasFinalizer(gone) && pod != nil {
				c.orphans.Add(gone.Key())
			}
			return
		}
		c.expected.Deleted(job.Key(), gone.UID)
		if pod == nil || !hasFinalizer(pod) {
			delete(c.removals[job.Key()], gone.UID)
		}
		c.queue.AddBatched(job.Key(), batchPeriod)
		return
	}
	job := c.owners.Of(pod)
	switch {
	case job != nil && old == nil:
		c.expected.Created(job.Key())
	case job != nil && !hasFinalizer(pod):
		delete(c.removals[job.Key()], pod.UID)
	case pod.View().ControllerOf().IsNil() && hasFinalizer(pod):
		c.orphans.Add(pod.Key())
	}
	for _, job := range c.owners.Affected(old, pod) {
		c.queue.AddBatched(job.Key(), batchPeriod)
	}
}

// syncOrphan removes the finalizer of a Pod that no running Job owns.
func (c *jobs) syncOrphan(k controller.Key) error {
	pod := c.pods.Get(k.Namespace, k.Name)
	if pod == nil || !hasFinalizer(pod) {
		return nil
	}
	if ref := pod.View().ControllerOf(); !ref.IsNil() {
		if ref.String("kind") != "Job" || ref.String("apiVersion") != "batch/v1" {
			return nil
		}
		if job := c.owners.Of(pod); job != nil && (managedElsewhere(job) || !isFinished(job)) {
			return nil
		}
	}
	if err := c.removeFinalizer(pod); err != nil && !controller.IsNotFound(err) {
		return err
	}
	return nil
}

// removeFinalizer removes the finalizer from a Pod that has it.
func (c *jobs) removeFinalizer(pod *controller.Object) error {
	_, err := c.client.StrategicPatch(controller.Pods, pod.Namespace, pod.Name, "", map[string]any{
		"metadata": map[string]any{"$deleteFromPrimitiveList/finalizers": []string{trackingFinalizer}},
	})
	return err
}

// sync updates the Pods and the status of a Job.
func (c *jobs) sync(k controller.Key) error {
	job := c.jobs.Get(k.Namespace, k.Name)
	if job == nil {
		c.expected.Forget(k)
		delete(c.removals, k)
		delete(c.backoffs, k)
		return nil
	}
	if managedElsewhere(job) {
		return nil
	}
	if isFinished(job) {
		delete(c.backoffs, k)
		delete(c.finished, job.UID)
		return nil
	}
	if c.finished[job.UID] {
		return nil
	}
	if mode := job.View().String("spec", "completionMode"); mode != "" && mode != "NonIndexed" && mode != "Indexed" {
		c.recorder.Event(job, controller.Warning, "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")
		return nil
	}
	satisfied := c.expected.Satisfied(k)
	labels, err := controller.LabelSelector(job.View(), "spec", "selector")
	if err != nil {
		return fmt.Errorf("couldn't convert Job selector: %w", err)
	}
	claim := controller.Claim{
		Client: c.client, Owner: job, Resource: controller.Pods, Selector: labels, Finalizers: []string{trackingFinalizer},
	}
	claimed, err := claim.Objects(controller.Candidates(c.pods, job))
	if err != nil {
		return err
	}
	r := newRun(c, job, claimed)
	return r.reconcile(satisfied)
}

func hasFinalizer(pod *controller.Object) bool {
	return slices.Contains(pod.Finalizers(), trackingFinalizer)
}

func isFinished(job *controller.Object) bool {
	return controller.HasCondition(job.View(), "Complete", "True") || controller.HasCondition(job.View(), "Failed", "True")
}

// managedElsewhere reports whether another controller manages the Job.
func managedElsewhere(job *controller.Object) bool {
	name := job.View().String("spec", "managedBy")
	return name != "" && name != controllerName
}
