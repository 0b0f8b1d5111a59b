// Package volumeattributesclassprotection has the
// volumeattributesclass-protection-controller: a VolumeAttributesClass that claims or
// volumes have is not removed.
//
// See https://kubernetes.io/docs/concepts/storage/volume-attributes-classes/.
package volumeattributesclassprotection

import (
	"slices"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/volume"
)

const (
	finalizer = "kubernetes.io/vac-protection"

	// byClass is the index of claims and volumes by the classes that they name.
	byClass = "vac-protection"
)

type protection struct {
	client  *controller.Client
	classes *controller.Informer
	users   []*controller.Informer // volumes and claims
	queue   *controller.Queue
}

// Start starts the controller. It does nothing in a release that does not serve
// VolumeAttributesClasses of version v1.
func Start(e *controller.Env) {
	if !e.Serves(controller.VolumeAttributesClasses) {
		return
	}
	c := &protection{client: e.Client("volumeattributesclass-protection-controller")}
	c.queue = e.Queue(c.sync)
	c.classes = e.Informer(controller.VolumeAttributesClasses, func(_, class *controller.Object) {
		if class != nil && class.Terminating == slices.Contains(class.Finalizers(), finalizer) {
			c.queue.Add(class.Key())
		}
	})
	for _, res := range []controller.Resource{controller.PersistentVolumes, controller.PersistentVolumeClaims} {
		i := e.Informer(res, c.userChanged)
		i.Index(byClass, names)
		c.users = append(c.users, i)
	}
}

// names returns the classes that a claim or a volume names.
func names(o *controller.Object) (out []string) {
	for _, name := range []string{
		volume.AttributesClass(o.View()), o.View().String("status", "currentVolumeAttributesClassName"),
		o.View().String("status", "modifyVolumeStatus", "targetVolumeAttributesClassName"),
	} {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// userChanged queues the classes that a claim or a volume has ceased to name.
func (c *protection) userChanged(old, o *controller.Object) {
	if old == nil {
		return
	}
	var kept []string
	if o != nil {
		kept = names(o)
	}
	for _, name := range names(old) {
		if !slices.Contains(kept, name) {
			c.queue.Add(controller.Key{Name: name})
		}
	}
}

// sync removes the finalizer of a class that is being deleted and that nothing names,
// and adds it to a class that is not being deleted.
func (c *protection) sync(k controller.Key) error {
	class := c.classes.Get("", k.Name)
	if class == nil {
		return nil
	}
	protected := slices.Contains(class.Finalizers(), finalizer)
	used := slices.ContainsFunc(c.users, func(i *controller.Informer) bool { return len(i.By(byClass, k.Name)) > 0 })
	switch {
	case class.Terminating && protected && !used:
		return c.client.RemoveFinalizer(class, finalizer)
	case !class.Terminating && !protected:
		return c.client.AddFinalizer(class, finalizer)
	}
	return nil
}
