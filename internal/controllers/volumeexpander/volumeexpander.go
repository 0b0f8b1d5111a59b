// Package volumeexpander has the persistentvolume-expander-controller. No volume plugin
// of kube-controller-manager can expand volumes any more: it reports that a claim waits
// for the resizer of its CSI driver.
//
// See https://kubernetes.io/docs/concepts/storage/persistent-volumes/#expanding-persistent-volumes-claims.
package volumeexpander

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/volume"
	"github.com/kubefake/kubefake/internal/quantity"
)

type expander struct {
	client *controller.Client
	events *controller.Recorder
	claims *controller.Informer
	queue  *controller.Queue
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &expander{client: e.Client("expand-controller")}
	c.events = e.Recorder(c.client, "volume_expand")
	c.queue = e.Queue(c.sync)
	c.claims = e.Informer(controller.PersistentVolumeClaims, func(old, claim *controller.Object) {
		if claim == nil || claim.View().String("status", "phase") != "Bound" {
			return
		}
		if old == nil || quantity.Compare(volume.Request(claim.View()), volume.Request(old.View())) > 0 ||
			quantity.Compare(size(claim), size(old)) > 0 {
			c.queue.Add(claim.Key())
		}
	})
}

// size returns the size that a claim has.
func size(claim *controller.Object) string {
	return claim.View().String("status", "capacity", "storage")
}

// sources are the volume sources of former in-tree provisioners.
var sources = []struct{ field, provisioner string }{
	{"awsElasticBlockStore", "kubernetes.io/aws-ebs"},
	{"azureDisk", "kubernetes.io/azure-disk"},
	{"azureFile", "kubernetes.io/azure-file"},
	{"cinder", "kubernetes.io/cinder"},
	{"gcePersistentDisk", "kubernetes.io/gce-pd"},
	{"portworxVolume", "kubernetes.io/portworx-volume"},
	{"vsphereVolume", "kubernetes.io/vsphere-volume"},
}

// sync reports a claim that asks for more than it has.
func (c *expander) sync(k controller.Key) error {
	claim := c.claims.Get(k.Namespace, k.Name)
	if claim == nil {
		return nil
	}
	name := claim.View().String("spec", "volumeName")
	v, err := c.client.Get(controller.PersistentVolumes, "", name)
	if err != nil {
		return fmt.Errorf("failed to get PV %q: %w", name, err)
	}
	if !volume.BoundTo(v.View(), claim.View()) || v.View().String("spec", "claimRef", "uid") == "" {
		return fmt.Errorf("persistent Volume is not bound to PVC being updated : %s", k)
	}
	if _, resized := volume.Annotation(v.View(), volume.PreResizeCapacity); !resized && quantity.Compare(volume.Request(claim.View()), size(claim)) <= 0 {
		return nil
	}
	for _, s := range sources {
		if !v.View().IsNil("spec", s.field) {
			c.events.Event(claim, controller.Normal, "ExternalExpanding", "CSI migration enabled for %s; waiting for external resizer to expand the pvc", s.provisioner)
			return c.setResizer(claim, volume.MigratedDriver(s.provisioner))
		}
	}
	c.events.Event(claim, controller.Normal, "ExternalExpanding", "waiting for an external controller to expand this PVC")
	return nil
}

// setResizer sets the annotation by which the resizer of a driver finds a claim.
func (c *expander) setResizer(claim *controller.Object, driver string) error {
	if is, _ := volume.Annotation(claim.View(), volume.StorageResizer); is == driver {
		return nil
	}
	_, err := c.client.StrategicPatch(controller.PersistentVolumeClaims, claim.Namespace, claim.Name, "status", map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{volume.StorageResizer: driver}, "resourceVersion": claim.View().String("metadata", "resourceVersion"),
	}})
	return err
}
