// Package pvprotection has the persistentvolume-protection-controller: a
// PersistentVolume that is bound is not removed.
//
// See https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection.
package pvprotection

import (
	"slices"

	"github.com/kubefake/kubefake/internal/controllers/controller"
)

const finalizer = "kubernetes.io/pv-protection"

type protection struct {
	client  *controller.Client
	volumes *controller.Informer
	queue   *controller.Queue
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &protection{client: e.Client("pv-protection-controller")}
	c.queue = e.Queue(c.sync)
	c.volumes = e.Informer(controller.PersistentVolumes, func(_, pv *controller.Object) {
		// A volume has the finalizer until it is deleted, and only then has none.
		if pv != nil && pv.Terminating == slices.Contains(pv.Finalizers(), finalizer) {
			c.queue.Add(pv.Key())
		}
	})
}

// sync removes the finalizer of a volume that is being deleted and is not bound, and
// adds it to a volume that is not being deleted.
func (c *protection) sync(k controller.Key) error {
	pv := c.volumes.Get("", k.Name)
	if pv == nil {
		return nil
	}
	protected := slices.Contains(pv.Finalizers(), finalizer)
	switch {
	case pv.Terminating && protected && pv.View().String("status", "phase") != "Bound":
		return c.client.RemoveFinalizer(pv, finalizer)
	case !pv.Terminating && !protected:
		return c.client.AddFinalizer(pv, finalizer)
	}
	return nil
}
