// Package storageprovisioner has the storage-provisioner, which stands for the
// provisioners and CSI drivers that a cluster has beside kube-controller-manager: it
// makes the volumes that claims wait for, attaches them, resizes them, and deletes them.
//
// See https://kubernetes.io/docs/concepts/storage/dynamic-provisioning/.
package storageprovisioner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/volume"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
)

// The StorageClass that the storage-provisioner creates, and its provisioner.
const (
	DefaultClass       = "standard"
	DefaultProvisioner = "fakeapi/host-path"
)

// byVolume is the index of claims by the volumes that they name.
const byVolume = "storage-provisioner"

type provisioner struct {
	env         *controller.Env
	client      *controller.Client
	claims      *controller.Informer
	volumes     *controller.Informer
	classes     *controller.Informer
	drivers     *controller.Informer
	nodes       *controller.Informer
	attachments *controller.Informer
	events      map[string]*controller.Recorder // by component
}

// Start starts the storage-provisioner. If there is no StorageClass, it creates one.
func Start(e *controller.Env) {
	user := &authn.User{Name: authn.ServiceAccountName("kube-system", "storage-provisioner"), Groups: []string{authn.MastersGroup, authn.AuthenticatedGroup}}
	c := &provisioner{env: e, client: e.ClientAs(user, "storage-provisioner"), events: map[string]*controller.Recorder{}}
	e.Queue(c.createClass).Add(controller.Key{})
	claims, volumes, attachments := e.Queue(c.syncClaim), e.Queue(c.syncVolume), e.Queue(c.syncAttachment)
	c.classes = e.Informer(controller.StorageClasses)
	c.drivers = e.Informer(controller.CSIDrivers)
	c.nodes = e.Informer(controller.Nodes)
	c.claims = e.Informer(controller.PersistentVolumeClaims, func(_, claim *controller.Object) {
		if claim != nil {
			claims.Add(claim.Key())
		}
	})
	c.claims.Index(byVolume, func(claim *controller.Object) []string {
		return []string{claim.View().String("spec", "volumeName")}
	})
	c.volumes = e.Informer(controller.PersistentVolumes, func(_, v *controller.Object) {
		if v == nil {
			return
		}
		volumes.Add(v.Key())
		for _, claim := range c.claims.By(byVolume, v.Name) {
			claims.Add(claim.Key())
		}
	})
	c.attachments = e.Informer(controller.VolumeAttachments, func(_, a *controller.Object) {
		if a != nil {
			attachments.Add(a.Key())
		}
	})
}

// createClass creates the default StorageClass, if there is no StorageClass.
func (c *provisioner) createClass(controller.Key) error {
	if c.classes.Len() > 0 {
		return nil
	}
	_, err := c.client.Create(controller.StorageClasses, "", map[string]any{
		"metadata": map[string]any{
			"name": DefaultClass, "annotations": map[string]any{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		"provisioner": DefaultProvisioner, "volumeBindingMode": "WaitForFirstConsumer", "allowVolumeExpansion": true,
	})
	if controller.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// recorder returns the recorder of a component of a driver.
func (c *provisioner) recorder(component string) *controller.Recorder {
	r := c.events[component]
	if r == nil {
		r = c.env.Recorder(c.client, component)
		c.events[component] = r
	}
	return r
}

// external reports whether a provisioner runs outside of kube-controller-manager.
func external(provisioner string) bool {
	return provisioner != "" && !strings.HasPrefix(provisioner, volume.InTree)
}

// syncClaim makes the volume of a claim that waits for one, or resizes it.
func (c *provisioner) syncClaim(k controller.Key) error {
	claim := c.claims.Get(k.Namespace, k.Name)
	switch {
	case claim == nil || claim.Terminating:
		return nil
	case claim.View().String("spec", "volumeName") == "":
		return c.provision(claim)
	}
	return c.resize(claim)
}

func (c *provisioner) provision(claim *controller.Object) error {
	name, _ := volume.Annotation(claim.View(), volume.StorageProvisioner)
	class := c.classes.Get("", volume.Class(claim.View()))
	if !external(name) || class == nil || c.volumes.Get("", volumeName(claim)) != nil {
		return nil
	}
	node, selected := volume.Annotation(claim.View(), volume.SelectedNode)
	if volume.Delayed(class) && !selected {
		return nil
	}
	events := c.recorder(name)
	events.Event(claim, controller.Normal, "Provisioning", "External provisioner is provisioning volume for claim %q", claim.Key())
	if selected && c.nodes.Get("", node) == nil {
		events.Event(claim, controller.Warning, "ProvisioningFailed", "failed to get target node: node %q not found", node)
		changed := claim.Copy()
		delete(object.Map(changed, "metadata", "annotations"), volume.SelectedNode)
		_, err := c.client.Update(controller.PersistentVolumeClaims, "", changed) // the scheduler selects another one
		return err
	}
	_, err := c.client.Create(controller.PersistentVolumes, "", c.newVolume(claim, class, name, node))
	if err != nil && !controller.IsAlreadyExists(err) {
		events.Event(claim, controller.Warning, "ProvisioningFailed", "failed to provision volume with StorageClass %q: %v", class.Name, err)
		return err
	}
	events.Event(claim, controller.Normal, "ProvisioningSucceeded", "Successfully provisioned volume %s", volumeName(claim))
	return nil
}

func volumeName(claim *controller.Object) string { return "pvc-" + claim.UID }

// newVolume returns the volume of a claim: one of the CSI driver that has the name of
// the provisioner, or a host path, on a node if the scheduler has selected one.
func (c *provisioner) newVolume(claim, class *controller.Object, provisioner, node string) map[string]any {
	meta := map[string]any{"name": volumeName(claim), "annotations": map[string]any{volume.ProvisionedBy: provisioner}}
	policy := class.View().String("reclaimPolicy")
	spec := map[string]any{
		"capacity": map[string]any{"storage": volume.Request(claim.View())}, "claimRef": controller.Reference(claim),
		"persistentVolumeReclaimPolicy": policy, "storageClassName": class.Name,
	}
	for _, field := range []string{"accessModes", "volumeMode", "volumeAttributesClassName"} {
		object.Keep(spec, claim.View().At("spec"), field)
	}
	if c.drivers.Get("", provisioner) != nil {
		if policy == "Delete" {
			meta["finalizers"] = []any{volume.ExternalFinalizer}
		}
		csi := map[string]any{"driver": provisioner, "volumeHandle": volumeName(claim)}
		if fsType := class.View().String("parameters", "csi.storage.k8s.io/fstype"); fsType != "" {
			csi["fsType"] = fsType
		}
		spec["csi"] = csi
		object.Keep(spec, class.View(), "mountOptions")
		return map[string]any{"metadata": meta, "spec": object.Copy(spec)}
	}
	spec["hostPath"] = map[string]any{"path": "/var/local-path-provisioner/" + volumeName(claim), "type": "DirectoryOrCreate"}
	if n := c.nodes.Get("", node); n != nil && n.Labels[hostname] != "" {
		spec["nodeAffinity"] = map[string]any{"required": map[string]any{"nodeSelectorTerms": []any{map[string]any{
			"matchExpressions": []any{map[string]any{"key": hostname, "operator": "In", "values": []any{n.Labels[hostname]}}},
		}}}}
	}
	return map[string]any{"metadata": meta, "spec": object.Copy(spec)}
}

const hostname = "kubernetes.io/hostname"

// resize makes the volume of a claim as large as the claim asks for.
func (c *provisioner) resize(claim *controller.Object) error {
	v := c.volumes.Get("", claim.View().String("spec", "volumeName"))
	request := volume.Request(claim.View())
	has := claim.View().String("status", "capacity", "storage")
	if v == nil || has == "" || !volume.BoundTo(v.View(), claim.View()) || quantity.Compare(request, has) <= 0 {
		return nil
	}
	name, _ := volume.Annotation(v.View(), volume.ProvisionedBy)
	if !external(name) {
		return nil
	}
	events := c.recorder("external-resizer " + name)
	if !volume.Holds(v.View(), claim.View()) {
		events.Event(claim, controller.Normal, "Resizing", "External resizer is resizing volume %s", v.Name)
		changed := v.Copy()
		object.Set(changed, request, "spec", "capacity", "storage")
		if _, err := c.client.Update(controller.PersistentVolumes, "", changed); err != nil {
			return err
		}
	}
	status := claim.View().At("status").ShallowCopy()
	status["capacity"] = map[string]any{"storage": request}
	status["allocatedResources"] = map[string]any{"storage": request}
	if _, err := c.client.WriteStatus(claim, status, 0); err != nil {
		return err
	}
	events.Event(claim, controller.Normal, "VolumeResizeSuccessful", "Resize volume succeeded")
	return nil
}

// syncVolume deletes a volume whose claim is gone, if that is its policy.
func (c *provisioner) syncVolume(k controller.Key) error {
	v := c.volumes.Get("", k.Name)
	if v == nil || v.View().String("status", "phase") != "Released" || v.View().String("spec", "persistentVolumeReclaimPolicy") != "Delete" {
		return nil
	}
	if name, _ := volume.Annotation(v.View(), volume.ProvisionedBy); !external(name) {
		return nil
	}
	if !v.Terminating {
		return c.client.Delete(controller.PersistentVolumes, "", v.Name, controller.DeleteOptions{UID: v.UID})
	}
	if slices.Contains(v.Finalizers(), volume.ExternalFinalizer) {
		return c.client.RemoveFinalizer(v, volume.ExternalFinalizer)
	}
	return nil
}

// syncAttachment attaches a volume to a node, or detaches it.
func (c *provisioner) syncAttachment(k controller.Key) error {
	a := c.attachments.Get("", k.Name)
	if a == nil {
		return nil
	}
	finalizer := fmt.Sprintf("external-attacher/%s", strings.ReplaceAll(a.View().String("spec", "attacher"), ".", "-"))
	protected := slices.Contains(a.Finalizers(), finalizer)
	switch {
	case a.Terminating && protected:
		return c.client.RemoveFinalizer(a, finalizer)
	case a.Terminating:
		return nil
	case !protected:
		return c.client.AddFinalizer(a, finalizer)
	case !a.View().Bool("status", "attached"):
		_, err := c.client.WriteStatus(a, map[string]any{"attached": true}, 0)
		return err
	}
	return nil
}
