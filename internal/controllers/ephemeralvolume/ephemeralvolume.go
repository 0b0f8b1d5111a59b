// Package ephemeralvolume has the ephemeral-volume-controller: it creates the
// PersistentVolumeClaims of the ephemeral volumes of Pods.
//
// See https://kubernetes.io/docs/concepts/storage/ephemeral-volumes/#generic-ephemeral-volumes.
package ephemeralvolume

import (
	"fmt"
	"iter"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
)

type ephemeral struct {
	client *controller.Client
	events *controller.Recorder
	pods   *controller.Informer
	claims *controller.Informer
	queue  *controller.Queue // of Pods
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &ephemeral{client: e.Client("ephemeral-volume-controller")}
	c.events = e.Recorder(c.client, "ephemeral_volume")
	c.queue = e.Queue(c.sync)
	c.pods = e.PodsByClaim(func(old, pod *controller.Object) {
		if pod != nil && old == nil { // volumes do not change
			c.enqueue(pod)
		}
	})
	c.claims = e.Informer(controller.PersistentVolumeClaims, func(old, claim *controller.Object) {
		if claim == nil {
			for _, pod := range c.pods.By(controller.ByClaim, old.Key().String()) {
				c.enqueue(pod)
			}
		}
	})
}

// volumes yields the ephemeral volumes of a Pod.
func volumes(pod *controller.Object) iter.Seq[object.View] {
	return func(yield func(object.View) bool) {
		for v := range pod.View().At("spec", "volumes").Objects() {
			if !v.IsNil("ephemeral") && !yield(v) {
				return
			}
		}
	}
}

func (c *ephemeral) enqueue(pod *controller.Object) {
	if pod.Terminating {
		return
	}
	for range volumes(pod) {
		c.queue.Add(pod.Key())
		return
	}
}

// sync creates the claims of a Pod that do not exist.
func (c *ephemeral) sync(k controller.Key) error {
	pod := c.pods.Get(k.Namespace, k.Name)
	if pod == nil || pod.Terminating {
		return nil
	}
	for v := range volumes(pod) {
		if err := c.ensure(pod, v); err != nil {
			c.events.Event(pod, controller.Warning, "FailedBinding", "ephemeral volume %s: %v", v.String("name"), err)
			return fmt.Errorf("pod %s, ephemeral volume %s: %w", k, v.String("name"), err)
		}
	}
	return nil
}

func (c *ephemeral) ensure(pod *controller.Object, v object.View) error {
	name := pods.VolumeClaimName(pod.Name, v)
	if claim := c.claims.Get(pod.Namespace, name); claim != nil {
		if !claim.View().ControlledBy(pod.UID) {
			return fmt.Errorf("PVC %s/%s was not created for pod %s/%s (pod is not owner)", claim.Namespace, name, pod.Namespace, pod.Name)
		}
		return nil
	}
	template := v.At("ephemeral", "volumeClaimTemplate")
	meta := map[string]any{"name": name, "namespace": pod.Namespace, "ownerReferences": []any{controller.ControllerRef(pod)}}
	for _, field := range []string{"annotations", "labels"} {
		object.Keep(meta, template.At("metadata"), field)
	}
	_, err := c.client.Create(controller.PersistentVolumeClaims, pod.Namespace, object.Copy(map[string]any{"metadata": meta, "spec": template.At("spec").Shared()}))
	if err != nil {
		return fmt.Errorf("create PVC %s: %w", name, err)
	}
	return nil
}
