// Package ttlafterfinished has the ttl-after-finished-controller: a Job that has ended
// is deleted when its spec.ttlSecondsAfterFinished have passed.
//
// See https://kubernetes.io/docs/concepts/workloads/controllers/ttlafterfinished/.
package ttlafterfinished

import (
	"fmt"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

type cleaner struct {
	env    *controller.Env
	client *controller.Client
	jobs   *controller.Informer
	queue  *controller.Queue
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &cleaner{env: e, client: e.Client("ttl-after-finished-controller")}
	c.queue = e.Queue(c.sync)
	c.jobs = e.Informer(controller.Jobs, func(_, job *controller.Object) {
		if job != nil && needsCleanup(job) {
			c.queue.Add(job.Key())
		}
	})
}

// needsCleanup reports whether a Job has a time to live and has ended.
func needsCleanup(job *controller.Object) bool {
	if job.Terminating {
		return false
	}
	_, ok := job.View().Int("spec", "ttlSecondsAfterFinished")
	return ok && !ended(job).IsNil()
}

// ended returns the condition by which a Job has ended, nothing if it has not.
func ended(job *controller.Object) object.View {
	for c := range job.View().At("status", "conditions").Objects() {
		if (c.String("type") == "Complete" || c.String("type") == "Failed") && c.String("status") == "True" {
			return c
		}
	}
	return object.View{}
}

// sync deletes a Job whose time has passed, after a look at its newest version.
func (c *cleaner) sync(k controller.Key) error {
	job := c.jobs.Get(k.Namespace, k.Name)
	if job == nil {
		return nil
	}
	if expired, err := c.expired(job); err != nil || !expired {
		return err
	}
	fresh, err := c.client.Get(controller.Jobs, k.Namespace, k.Name)
	if controller.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if expired, err := c.expired(fresh); err != nil || !expired {
		return err
	}
	return c.client.Delete(controller.Jobs, k.Namespace, k.Name, controller.DeleteOptions{UID: fresh.UID, Propagation: "Foreground"})
}

// expired reports whether the time of a Job has passed. Otherwise it queues the Job for
// then.
func (c *cleaner) expired(job *controller.Object) (bool, error) {
	if !needsCleanup(job) {
		return false, nil
	}
	at := controller.Time(ended(job), "lastTransitionTime")
	if at.IsZero() {
		return false, fmt.Errorf("unable to find the time when the Job %s finished", job.Key())
	}
	ttl, _ := job.View().Int("spec", "ttlSecondsAfterFinished")
	left := at.Add(time.Duration(ttl) * time.Second).Sub(c.env.Now())
	if left > 0 {
		c.queue.AddAfter(job.Key(), left)
		return false, nil
	}
	return true, nil
}
