// Package persistentvolumebinder has the persistentvolume-binder-controller: it binds
// PersistentVolumeClaims and PersistentVolumes to each other, asks for volumes of
// claims that none fits, and reclaims volumes whose claims are gone.
//
// See https://kubernetes.io/docs/concepts/storage/persistent-volumes/#lifecycle-of-a-volume-and-claim.
package persistentvolumebinder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/volume"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

// resync is the time after which a claim or a volume that is not as it is to be is
// synced again. Nothing else finds a volume that fits an older claim.
const resync = 15 * time.Second

// byTarget is the index of volumes by the claim that they refer to, or by their class.
const byTarget = "persistentvolume-binder"

type binder struct {
	client  *controller.Client
	events  *controller.Recorder
	claims  *controller.Informer
	volumes *controller.Informer
	classes *controller.Informer
	pods    *controller.Informer

	claimQueue  *controller.Queue
	volumeQueue *controller.Queue
	recycling   map[string]bool // the volumes that have a recycler Pod
	writes      int             // of claims and volumes: each one causes a sync
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &binder{client: e.Client("persistent-volume-binder"), recycling: map[string]bool{}}
	c.events = e.Recorder(c.client, "persistentvolume-controller")
	c.claimQueue = e.Queue(c.syncClaim)
	c.volumeQueue = e.Queue(c.syncVolume)
	c.classes = e.Informer(controller.StorageClasses)
	c.volumes = e.Informer(controller.PersistentVolumes, c.volumeChanged)
	c.volumes.Index(byTarget, func(v *controller.Object) []string {
		if ref := v.View().At("spec", "claimRef"); !ref.IsNil() {
			return []string{"claim " + claimOf(ref).String()}
		}
		return []string{"class " + volume.Class(v.View())}
	})
	c.claims = e.Informer(controller.PersistentVolumeClaims, c.claimChanged)
	c.pods = e.PodsByClaim(c.podChanged)
}

// claimOf returns the key of the claim that a claimRef refers to.
func claimOf(ref object.View) controller.Key {
	return controller.Key{Namespace: ref.String("namespace"), Name: ref.String("name")}
}

// claimChanged queues a claim, or the volume of one that is gone.
func (c *binder) claimChanged(old, claim *controller.Object) {
	if claim != nil {
		c.claimQueue.Add(claim.Key())
	} else if name := old.View().String("spec", "volumeName"); name != "" {
		c.volumeQueue.Add(controller.Key{Name: name})
	}
}

// volumeChanged queues a volume, or the claim of one that is gone. The claim of a volume that
// refers to it no longer is queued with a delay.
func (c *binder) volumeChanged(old, v *controller.Object) {
	if v != nil {
		c.volumeQueue.Add(v.Key())
	}
	if old == nil {
		return
	}
	ref := old.View().At("spec", "claimRef")
	switch {
	case ref.IsNil():
	case v == nil:
		c.claimQueue.Add(claimOf(ref))
	case v.View().IsNil("spec", "claimRef"):
		c.claimQueue.AddAfter(claimOf(ref), resync)
	}
}

// syncClaim binds a claim, or checks that it is still bound.
func (c *binder) syncClaim(k controller.Key) error {
	claim := c.claims.Get(k.Namespace, k.Name)
	if claim == nil {
		return nil
	}
	before := c.writes
	claim, err := c.annotateMigration(claim, volume.StorageProvisioner, volume.BetaStorageProvisioner)
	if err != nil {
		return err
	}
	if _, completed := volume.Annotation(claim.View(), volume.BindCompleted); completed {
		err = c.syncBound(claim)
	} else {
		err = c.syncUnbound(claim)
	}
	if err == nil && c.writes == before && phase(claim) != "Bound" {
		c.claimQueue.AddAfter(k, resync)
	}
	return err
}

// update writes an object.
func (c *binder) update(res controller.Resource, obj map[string]any) (*controller.Object, error) {
	c.writes++
	return c.client.Update(res, "", obj)
}

// updateStatus writes the status of an object.
func (c *binder) updateStatus(o *controller.Object, status map[string]any) (*controller.Object, error) {
	c.writes++
	return c.client.WriteStatus(o, status, 0)
}

// phase returns the phase of a claim or a volume as of o.
func phase(o *controller.Object) string { return o.View().String("status", "phase") }

// syncUnbound looks for a volume of a claim that has none.
func (c *binder) syncUnbound(claim *controller.Object) error {
	obj := claim.View()
	if name := obj.String("spec", "volumeName"); name != "" {
		return c.syncRequested(claim, name)
	}
	delayed := volume.Delayed(c.classes.Get("", volume.Class(obj)))
	if v := c.match(claim, delayed); v != nil {
		return c.bind(v, claim)
	}
	if class := c.defaultClass(); class != nil && !volume.HasClass(obj) {
		changed := claim.Copy()
		object.Set(changed, class.Name, "spec", "storageClassName")
		_, err := c.update(controller.PersistentVolumeClaims, changed)
		return err
	}
	_, selected := volume.Annotation(obj, volume.SelectedNode)
	switch {
	case delayed && !selected:
		c.reportDelay(claim)
	case volume.Class(obj) != "":
		return c.provision(claim)
	default:
		c.events.Event(claim, controller.Normal, "FailedBinding", "no persistent volumes available for this claim and no storage class is set")
	}
	_, err := c.setClaim(claim, "Pending", nil)
	return err
}

// syncRequested binds a claim to the volume that it asks for.
func (c *binder) syncRequested(claim *controller.Object, name string) error {
	v := c.volumes.Get("", name)
	switch {
	case v == nil:
	case v.View().IsNil("spec", "claimRef"):
		reason := unfit(v, claim)
		if reason == "" {
			return c.bind(v, claim)
		}
		c.events.Event(claim, controller.Warning, "VolumeMismatch", "Cannot bind to requested volume %q: %s", name, reason)
	case volume.BoundTo(v.View(), claim.View()):
		return c.bind(v, claim)
	default:
		c.events.Event(claim, controller.Warning, "FailedBinding", "volume %q already bound to a different claim.", name)
		if _, ok := volume.Annotation(claim.View(), volume.BoundByController); ok {
			return fmt.Errorf("invalid binding of claim %q to volume %q", claim.Key(), name)
		}
	}
	_, err := c.setClaim(claim, "Pending", nil)
	return err
}

// unfit returns why a volume that a claim asks for cannot be bound to it, "" if it can.
func unfit(v, claim *controller.Object) string {
	pv, pvc := v.View(), claim.View()
	switch {
	case v.Terminating:
		return fmt.Sprintf("the volume is marked for deletion %q", v.Name)
	case !volume.Holds(pv, pvc):
		return "requested PV is too small"
	case volume.Class(pv) != volume.Class(pvc):
		return "storageClassName does not match"
	case volume.AttributesClass(pv) != volume.AttributesClass(pvc):
		return "volumeAttributesClassName does not match"
	case volume.Mode(pv) != volume.Mode(pvc):
		return "incompatible volumeMode"
	case !volume.ModesFit(pvc, pv):
		return "incompatible accessMode"
	}
	return ""
}

// syncBound checks the volume of a claim that was bound. A claim without it is Lost.
func (c *binder) syncBound(claim *controller.Object) error {
	name := claim.View().String("spec", "volumeName")
	v := c.volumes.Get("", name)
	switch {
	case name == "":
		return c.lose(claim, "ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!")
	case v == nil:
		return c.lose(claim, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
	}
	if ref := v.View().At("spec", "claimRef"); !ref.IsNil() && ref.String("uid") != claim.UID {
		return c.lose(claim, "ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly")
	}
	return c.bind(v, claim)
}

func (c *binder) lose(claim *controller.Object, reason, message string) error {
	if phase(claim) == "Lost" {
		return nil
	}
	claim, err := c.setClaim(claim, "Lost", nil)
	if err != nil {
		return err
	}
	c.events.Event(claim, controller.Warning, reason, "%s", message)
	return nil
}

// match returns the volume that fits a claim best: the one that refers to it, or the
// smallest of those with the fewest access modes.
func (c *binder) match(claim *controller.Object, delayed bool) *controller.Object {
	candidates := append(c.volumes.By(byTarget, "class "+volume.Class(claim.View())), c.volumes.By(byTarget, "claim "+claim.Key().String())...)
	candidates = slices.DeleteFunc(candidates, func(v *controller.Object) bool { return !volume.ModesFit(claim.View(), v.View()) })
	modes := func(v *controller.Object) []string {
		list := slices.Clone(v.View().Strings("spec", "accessModes"))
		slices.Sort(list)
		return slices.Compact(list)
	}
	compare := func(a, b *controller.Object) int {
		x, y := modes(a), modes(b)
		return cmp.Or(len(x)-len(y), slices.Compare(x, y))
	}
	slices.SortStableFunc(candidates, compare)
	for len(candidates) > 0 {
		n := 1
		for n < len(candidates) && compare(candidates[0], candidates[n]) == 0 {
			n++
		}
		if v := volume.Find(claim.View(), candidates[:n], object.View{}, delayed, nil); v != nil {
			return v
		}
		candidates = candidates[n:]
	}
	return nil
}

// defaultClass returns the newest of the default StorageClasses, nil if there is none.
func (c *binder) defaultClass() (newest *controller.Object) {
	for _, class := range c.classes.List("", selector.Labels{}) {
		if volume.IsDefaultClass(class.View()) && (newest == nil ||
			controller.Time(class.View(), "metadata", "creationTimestamp").After(controller.Time(newest.View(), "metadata", "creationTimestamp"))) {
			newest = class
		}
	}
	return newest
}

// reportDelay records what a claim waits for whose class binds for a Pod.
func (c *binder) reportDelay(claim *controller.Object) {
	var names []string
	for _, pod := range c.pods.By(controller.ByClaim, claim.Key().String()) {
		if !controller.PodEnded(pod.View()) && pod.View().String("spec", "nodeName") == "" {
			names = append(names, pod.Name)
		}
	}
	reason, message := "WaitForPodScheduled", fmt.Sprintf("waiting for pods %s to be scheduled", strings.Join(names, ","))
	switch len(names) {
	case 0:
		reason, message = "WaitForFirstConsumer", "waiting for first consumer to be created before binding"
	case 1:
		message = fmt.Sprintf("waiting for pod %s to be scheduled", names[0])
	}
	c.events.Event(claim, controller.Normal, reason, "%s", message)
}

// bind binds a volume and a claim to each other, the volume first. It writes what is
// not so yet.
func (c *binder) bind(v, claim *controller.Object) (err error) {
	if changed := volume.Refer(v, claim); changed != nil {
		if v, err = c.update(controller.PersistentVolumes, changed); err != nil {
			return err
		}
	}
	if v, err = c.setPhase(v, "Bound", ""); err != nil {
		return err
	}
	_, completed := volume.Annotation(claim.View(), volume.BindCompleted)
	if named := claim.View().String("spec", "volumeName") == v.Name; !named || !completed {
		changed := claim.Copy()
		if !named {
			object.Set(changed, v.Name, "spec", "volumeName")
			object.Set(changed, "yes", "metadata", "annotations", volume.BoundByController)
		}
		object.Set(changed, "yes", "metadata", "annotations", volume.BindCompleted)
		if claim, err = c.update(controller.PersistentVolumeClaims, changed); err != nil {
			return err
		}
	}
	_, err = c.setClaim(claim, "Bound", v)
	return err
}

// setClaim writes the status of a claim, if it changes: the phase, and what the claim
// has of its volume, which is nil if it has none.
func (c *binder) setClaim(claim *controller.Object, newPhase string, v *controller.Object) (*controller.Object, error) {
	old := claim.View().At("status")
	status := old.ShallowCopy()
	status["phase"] = newPhase
	if v == nil {
		delete(status, "accessModes")
		delete(status, "capacity")
		delete(status, "currentVolumeAttributesClassName")
	} else {
		pv := v.View()
		object.Keep(status, pv.At("spec"), "accessModes")
		if phase(claim) != newPhase {
			if volume.Capacity(pv) == "" {
				return nil, fmt.Errorf("PersistentVolume %q is without a storage capacity", v.Name)
			}
			if resized, ok := volume.Annotation(pv, volume.PreResizeCapacity); ok {
				status["capacity"] = map[string]any{"storage": resized}
			} else {
				status["capacity"] = pv.At("spec", "capacity").Copy()
			}
		}
		if phase(claim) == "Pending" {
			delete(status, "currentVolumeAttributesClassName")
			if name := volume.AttributesClass(pv); name != "" {
				status["currentVolumeAttributesClassName"] = name
			}
		}
	}
	if old.EqualTo(status) {
		return claim, nil
	}
	return c.updateStatus(claim, status)
}

// setPhase writes the phase of a volume, if it changes.
func (c *binder) setPhase(v *controller.Object, newPhase, message string) (*controller.Object, error) {
	if phase(v) == newPhase {
		return v, nil
	}
	status := v.View().At("status").ShallowCopy()
	status["phase"] = newPhase
	delete(status, "message")
	if message != "" {
		status["message"] = message
	}
	return c.updateStatus(v, status)
}

// fail makes a volume Failed and records why, if it is not so already.
func (c *binder) fail(v *controller.Object, reason, message string) error {
	if phase(v) == "Failed" {
		return nil
	}
	v, err := c.setPhase(v, "Failed", message)
	if err != nil {
		return err
	}
	c.events.Event(v, controller.Warning, reason, "%s", message)
	return nil
}

// annotateMigration sets the CSI driver that serves an in-tree provisioner, which one
// of the annotations names, in the annotation migrated-to.
func (c *binder) annotateMigration(o *controller.Object, annotations ...string) (*controller.Object, error) {
	provisioner, found := "", false
	for _, name := range annotations {
		if provisioner, found = volume.Annotation(o.View(), name); found {
			break
		}
	}
	if !found {
		return o, nil
	}
	is, _ := volume.Annotation(o.View(), volume.MigratedTo)
	driver := volume.MigratedDriver(provisioner)
	if is == driver {
		return o, nil
	}
	changed := o.Copy()
	setMigration(changed, driver)
	return c.update(o.Resource(), changed)
}

func setMigration(obj map[string]any, driver string) {
	if driver == "" {
		delete(object.Map(obj, "metadata", "annotations"), volume.MigratedTo)
		return
	}
	object.Set(obj, driver, "metadata", "annotations", volume.MigratedTo)
}

// provision asks the provisioner of the class of a claim for a volume. Provisioners run
// outside of this controller.
func (c *binder) provision(claim *controller.Object) error {
	class := c.classes.Get("", volume.Class(claim.View()))
	if class == nil {
		c.events.Event(claim, controller.Warning, "ProvisioningFailed", "storageclass.storage.k8s.io %q not found", volume.Class(claim.View()))
		return nil
	}
	provisioner := class.View().String("provisioner")
	driver := volume.MigratedDriver(provisioner)
	internal := provisioner == volume.HostPath
	if driver == "" && !internal && strings.HasPrefix(provisioner, volume.InTree) {
		c.events.Event(claim, controller.Warning, "ProvisioningFailed", "no volume plugin matched name: %s", provisioner)
		return nil
	}
	if internal && !claim.View().IsNil("spec", "dataSource") {
		c.events.Event(claim, controller.Warning, "ProvisioningFailed",
			"plugin %q is not a CSI plugin. Only CSI plugin can provision a claim with a datasource", provisioner)
		return nil
	}
	if driver != "" {
		provisioner = driver
	}
	claim, err := c.setProvisioner(claim, provisioner)
	switch {
	case err != nil && !internal:
		c.events.Event(claim, controller.Warning, "ProvisioningFailed", "Error saving claim: %v", err)
		return err
	case err != nil:
		return err
	case !internal:
		c.events.Event(claim, controller.Normal, "ExternalProvisioning", "Waiting for a volume to be created either by the external provisioner '%s' "+
			"or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.", provisioner)
	case class.View().Len("mountOptions") > 0:
		c.events.Event(claim, controller.Warning, "ProvisioningFailed", "Mount options are not supported by the provisioner but StorageClass %q has mount options %v",
			class.Name, class.View().Strings("mountOptions"))
	default:
		c.events.Event(claim, controller.Warning, "ProvisioningFailed", "Failed to create provisioner: provisioning in volume plugin %q is disabled", provisioner)
	}
	return nil
}

// setProvisioner sets the annotations by which a provisioner finds a claim. It returns
// the claim as it was if it fails.
func (c *binder) setProvisioner(claim *controller.Object, provisioner string) (*controller.Object, error) {
	if is, ok := volume.Annotation(claim.View(), volume.StorageProvisioner); ok && is == provisioner {
		return claim, nil
	}
	changed := claim.Copy()
	object.Set(changed, provisioner, "metadata", "annotations", volume.BetaStorageProvisioner)
	object.Set(changed, provisioner, "metadata", "annotations", volume.StorageProvisioner)
	setMigration(changed, volume.MigratedDriver(provisioner))
	written, err := c.update(controller.PersistentVolumeClaims, changed)
	if err != nil {
		return claim, err
	}
	return written, nil
}
