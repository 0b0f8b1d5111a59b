package persistentvolumebinder

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/volume"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
)

// syncVolume sets the phase of a volume, and reclaims one whose claim is gone.
func (c *binder) syncVolume(k controller.Key) error {
	v := c.volumes.Get("", k.Name)
	if v == nil {
		delete(c.recycling, k.Name)
		return nil
	}
	before := c.writes
	v, err := c.annotateMigration(v, volume.ProvisionedBy)
	if err != nil {
		return err
	}
	if v, err = c.setFinalizer(v); err != nil {
		return err
	}
	ref := v.View().At("spec", "claimRef")
	if ref.String("uid") == "" {
		_, err := c.setPhase(v, "Available", "")
		return err
	}
	err = c.syncClaimed(v, ref)
	if err == nil && c.writes == before && phase(v) != "Bound" && v.View().String("spec", "persistentVolumeReclaimPolicy") != "Retain" {
		c.volumeQueue.AddAfter(k, resync)
	}
	return err
}

// syncClaimed syncs a volume that refers to a claim by its UID.
func (c *binder) syncClaimed(v *controller.Object, ref object.View) error {
	claim, err := c.claimed(v, ref)
	if err != nil {
		return err
	}
	if claim == nil {
		return c.release(v)
	}
	switch claim.View().String("spec", "volumeName") {
	case "":
		if volume.Mode(claim.View()) != volume.Mode(v.View()) {
			c.events.Event(v, controller.Warning, "VolumeMismatch",
				"Cannot bind PersistentVolume to requested PersistentVolumeClaim %q due to incompatible volumeMode.", claim.Name)
			c.events.Event(claim, controller.Warning, "VolumeMismatch",
				"Cannot bind PersistentVolume %q to requested PersistentVolumeClaim due to incompatible volumeMode.", v.Name)
			return nil
		}
		c.claimQueue.Add(claim.Key())
		return nil
	case v.Name:
		_, err := c.setPhase(v, "Bound", "")
		return err
	}
	// The claim is bound to another volume.
	_, provisioned := volume.Annotation(v.View(), volume.ProvisionedBy)
	if provisioned && v.View().String("spec", "persistentVolumeReclaimPolicy") == "Delete" {
		return c.release(v)
	}
	return c.unbind(v)
}

// claimed returns the claim that a volume refers to, nil if it is gone. A claim that the
// informer does not show may exist.
func (c *binder) claimed(v *controller.Object, ref object.View) (*controller.Object, error) {
	k, uid := claimOf(ref), ref.String("uid")
	claim := c.claims.Get(k.Namespace, k.Name)
	if claim != nil && claim.UID == uid {
		return claim, nil
	}
	if claim == nil && (phase(v) == "Released" || phase(v) == "Failed") {
		return nil, nil
	}
	claim, err := c.client.Get(controller.PersistentVolumeClaims, k.Namespace, k.Name)
	switch {
	case controller.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case claim.UID != uid:
		return nil, nil
	}
	return claim, nil
}

// unbind makes a volume Available that another one was bound in place of. A volume that
// its author reserved for the claim remains reserved.
func (c *binder) unbind(v *controller.Object) error {
	changed := v.Copy()
	annotations := object.Map(changed, "metadata", "annotations")
	if _, ok := annotations[volume.BoundByController]; ok {
		delete(object.Map(changed, "spec"), "claimRef")
		delete(annotations, volume.BoundByController)
		if len(annotations) == 0 {
			delete(object.Meta(changed), "annotations")
		}
	} else {
		delete(object.Map(changed, "spec", "claimRef"), "uid")
	}
	v, err := c.update(controller.PersistentVolumes, changed)
	if err != nil {
		return err
	}
	_, err = c.setPhase(v, "Available", "")
	return err
}

// release reclaims a volume that no claim uses any more, by its policy.
func (c *binder) release(v *controller.Object) (err error) {
	if is := phase(v); is != "Released" && is != "Failed" {
		if v, err = c.setPhase(v, "Released", ""); err != nil {
			return err
		}
	}
	if driver, _ := volume.Annotation(v.View(), volume.MigratedTo); driver != "" {
		return nil
	}
	switch v.View().String("spec", "persistentVolumeReclaimPolicy") {
	case "Retain":
		return nil
	case "Recycle":
		return c.recycle(v)
	case "Delete":
		return c.remove(v)
	}
	return c.fail(v, "VolumeUnknownReclaimPolicy", "Volume has unrecognized PersistentVolumeReclaimPolicy")
}

// In-tree plugins of kube-controller-manager. Only those of host paths can delete.
const (
	hostPathSource = "hostPath"
	nfsSource      = "nfs"
)

// deletable reports whether a volume is one that this controller deletes. It returns
// false for one that an external provisioner deletes, and fails for one that none does.
func deletable(v *controller.Object) (bool, error) {
	pv := v.View()
	if provisioner, _ := volume.Annotation(pv, volume.ProvisionedBy); provisioner != "" {
		switch {
		case provisioner == volume.HostPath:
			return true, nil
		case provisioner == "kubernetes.io/nfs":
			return false, fmt.Errorf("no deletable volume plugin matched")
		case strings.HasPrefix(provisioner, volume.InTree):
			return false, fmt.Errorf("no volume plugin matched name: %s", provisioner)
		}
		return false, nil
	}
	spec := pv.At("spec")
	switch {
	case !spec.IsNil("csi"):
		return false, nil
	case !spec.IsNil(hostPathSource):
		return true, nil
	case !spec.IsNil(nfsSource):
		return false, fmt.Errorf("error getting deleter volume plugin for volume %q: no deletable volume plugin matched", v.Name)
	}
	return false, fmt.Errorf("error getting deleter volume plugin for volume %q: no volume plugin matched", v.Name)
}

var temporary = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("/tmp/.+") })

// remove deletes a volume with the policy Delete.
func (c *binder) remove(v *controller.Object) error {
	ok, err := deletable(v)
	if err != nil {
		return c.fail(v, "VolumeFailedDelete", err.Error())
	}
	if !ok {
		return nil
	}
	v, err = c.client.Get(controller.PersistentVolumes, "", v.Name)
	if err != nil || !c.released(v) {
		return nil
	}
	source := v.View().At("spec", hostPathSource)
	if source.IsNil() {
		return c.fail(v, "VolumeFailedDelete", fmt.Sprintf("failed to create deleter for volume %q: spec.PersistentVolumeSource.HostPath is nil", v.Name))
	}
	if path := source.String("path"); !temporary().MatchString(path) {
		return c.fail(v, "VolumeFailedDelete", "host_path deleter only supports /tmp/.+ but received provided "+path)
	}
	if slices.Contains(v.Finalizers(), volume.InTreeFinalizer) {
		if err := c.client.RemoveFinalizer(v, volume.InTreeFinalizer); err != nil {
			return c.fail(v, "VolumeFailedDelete", fmt.Sprintf("persistent volume controller can't update finalizer: %v", err))
		}
	}
	_ = c.client.Delete(controller.PersistentVolumes, "", v.Name, controller.DeleteOptions{}) // tried again at the next sync
	return nil
}

// released reports whether the claim of a volume is gone, or bound to another volume.
func (c *binder) released(v *controller.Object) bool {
	ref := v.View().At("spec", "claimRef")
	if ref.String("uid") == "" {
		return false
	}
	k := claimOf(ref)
	claim := c.claims.Get(k.Namespace, k.Name)
	if claim == nil || claim.UID != ref.String("uid") {
		return true
	}
	name := claim.View().String("spec", "volumeName")
	return name != "" && name != v.Name
}

// setFinalizer adds the finalizer of volumes that an in-tree provisioner has made and
// that are to be deleted, or removes it from others.
func (c *binder) setFinalizer(v *controller.Object) (*controller.Object, error) {
	provisioner, ok := volume.Annotation(v.View(), volume.ProvisionedBy)
	if !ok {
		return v, nil
	}
	migrated := volume.MigratedDriver(provisioner) != ""
	if !migrated && !strings.HasPrefix(provisioner, volume.InTree) {
		return v, nil
	}
	policy := v.View().String("spec", "persistentVolumeReclaimPolicy")
	finalizers := slices.Clone(v.Finalizers())
	has := slices.Contains(finalizers, volume.InTreeFinalizer)
	without := func(name string) {
		finalizers = slices.DeleteFunc(finalizers, func(f string) bool { return f == name })
	}
	switch {
	case has && (migrated || policy == "Retain" || policy == "Recycle"):
		without(volume.InTreeFinalizer)
	case !has && !migrated && policy == "Delete":
		finalizers = append(finalizers, volume.InTreeFinalizer)
	}
	if !migrated {
		without(volume.ExternalFinalizer)
	}
	if slices.Equal(finalizers, v.Finalizers()) {
		return v, nil
	}
	changed := v.Copy()
	delete(object.Meta(changed), "finalizers")
	if len(finalizers) > 0 {
		object.Meta(changed)["finalizers"] = object.FromStrings(finalizers)
	}
	return c.update(controller.PersistentVolumes, changed)
}

// recyclers are the least active deadlines of recycler Pods, in seconds, by the source
// of the volume.
var recyclers = map[string]int64{hostPathSource: 60, nfsSource: 300}

// recyclerPerGi is the active deadline that a GiB of a volume gives, in seconds.
const recyclerPerGi = 30

// recycle makes a volume with the policy Recycle empty and Available, by a Pod that
// removes its files.
func (c *binder) recycle(v *controller.Object) error {
	source := ""
	for _, name := range []string{hostPathSource, nfsSource} {
		if !v.View().IsNil("spec", name) {
			source = name
		}
	}
	if source == "" {
		return c.fail(v, "VolumeFailedRecycle", "No recycler plugin found for the volume!")
	}
	if !c.recycling[v.Name] {
		if users := c.users(v); len(users) > 0 {
			c.events.Event(v, controller.Normal, "VolumeFailedRecycle", "Volume is used by pods: %s", strings.Join(users, ","))
			return nil
		}
		_, err := c.client.Create(controller.Pods, recyclerNamespace, recycler(v, source))
		if controller.IsAlreadyExists(err) {
			if err = c.removeRecycler(v); err == nil {
				err = errRecycling
			}
		}
		if err != nil {
			return c.fail(v, "VolumeFailedRecycle", fmt.Sprintf("Recycle failed: %v", err))
		}
		c.recycling[v.Name] = true
		return nil
	}
	pod := c.pods.Get(recyclerNamespace, recyclerName(v))
	if pod != nil && !controller.PodEnded(pod.View()) {
		return nil // podChanged queues the volume when it has ended
	}
	delete(c.recycling, v.Name)
	if pod == nil {
		return c.fail(v, "VolumeFailedRecycle", "Recycle failed: failed to recycle volume: recycler pod was deleted")
	}
	if err := c.removeRecycler(v); err != nil {
		return c.fail(v, "VolumeFailedRecycle", fmt.Sprintf("Recycle failed: failed to delete recycler pod: %v", err))
	}
	if phase(pod) == "Failed" {
		message := pod.View().String("status", "message")
		if message == "" {
			message = "pod failed, pod.Status.Message unknown"
		}
		return c.fail(v, "VolumeFailedRecycle", "Recycle failed: failed to recycle volume: "+message)
	}
	c.events.Event(v, controller.Normal, "VolumeRecycled", "Volume recycled")
	return c.unbind(v)
}

// users returns the Pods that use the claim of a volume, unless a claim of its name
// exists, which uses another volume.
func (c *binder) users(v *controller.Object) (names []string) {
	k := claimOf(v.View().At("spec", "claimRef"))
	if c.claims.Get(k.Namespace, k.Name) != nil {
		return nil
	}
	for _, pod := range c.pods.By(controller.ByClaim, k.String()) {
		if !controller.PodEnded(pod.View()) {
			names = append(names, pod.Key().String())
		}
	}
	return names
}

var errRecycling = errors.New("old recycler pod found, will retry later")

const recyclerNamespace = "default"

const recyclerPrefix = "recycler-for-"

func recyclerName(v *controller.Object) string { return recyclerPrefix + v.Name }

func (c *binder) removeRecycler(v *controller.Object) error {
	err := c.client.Delete(controller.Pods, recyclerNamespace, recyclerName(v), controller.DeleteOptions{})
	if controller.IsNotFound(err) {
		return nil
	}
	return err
}

// podChanged queues the volume of a recycler Pod that has ended.
func (c *binder) podChanged(old, pod *controller.Object) {
	gone := pod == nil
	if gone {
		pod = old
	}
	name, ok := strings.CutPrefix(pod.Name, recyclerPrefix)
	if ok && c.recycling[name] && pod.Namespace == recyclerNamespace && (gone || controller.PodEnded(pod.View())) {
		c.volumeQueue.Add(controller.Key{Name: name})
	}
}

// recycler returns the Pod that removes the files of a volume.
func recycler(v *controller.Object, source string) map[string]any {
	deadline := max(recyclers[source], int64(quantity.Ratio(volume.Capacity(v.View()), "1Gi"))*recyclerPerGi)
	return map[string]any{
		"metadata": map[string]any{"name": recyclerName(v), "namespace": recyclerNamespace},
		"spec": map[string]any{
			"activeDeadlineSeconds": deadline, "restartPolicy": "Never",
			"volumes": []any{map[string]any{"name": "vol", source: v.View().At("spec", source).Copy()}},
			"containers": []any{map[string]any{
				"name": "pv-recycler", "image": "registry.k8s.io/build-image/debian-base:bookworm-v1.0.6", "command": []any{"/bin/sh"},
				"args":         []any{"-c", `test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1`},
				"volumeMounts": []any{map[string]any{"name": "vol", "mountPath": "/scrub"}},
			}},
		},
	}
}
