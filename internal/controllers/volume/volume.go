// Package volume has the rules by which claims and volumes are bound, which the
// scheduler and the persistentvolume-binder-controller share.
package volume

import (
	"slices"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/selector"
)

// Annotations of claims and volumes.
const (
	BindCompleted           = "pv.kubernetes.io/bind-completed"
	BoundByController       = "pv.kubernetes.io/bound-by-controller"
	ProvisionedBy           = "pv.kubernetes.io/provisioned-by"
	SelectedNode            = "volume.kubernetes.io/selected-node"
	StorageProvisioner      = "volume.kubernetes.io/storage-provisioner"
	BetaStorageProvisioner  = "volume.beta.kubernetes.io/storage-provisioner"
	MigratedTo              = "pv.kubernetes.io/migrated-to"
	PreResizeCapacity       = "volume.alpha.kubernetes.io/pre-resize-capacity"
	StorageResizer          = "volume.kubernetes.io/storage-resizer"
	ControllerManagedAttach = "volumes.kubernetes.io/controller-managed-attach-detach" // of Nodes
	betaStorageClass        = "volume.beta.kubernetes.io/storage-class"
)

// Finalizers of volumes that provisioners delete.
const (
	InTreeFinalizer   = "kubernetes.io/pv-controller"
	ExternalFinalizer = "external-provisioner.volume.kubernetes.io/finalizer"
)

// Provisioners of StorageClasses.
const (
	InTree        = "kubernetes.io/"               // begins the names of those that are parts of Kubernetes
	NoProvisioner = "kubernetes.io/no-provisioner" // of classes whose volumes are made by hand
	HostPath      = "kubernetes.io/host-path"
)

// migrated are the CSI drivers that serve former in-tree provisioners.
var migrated = map[string]string{
	"kubernetes.io/aws-ebs":         "ebs.csi.aws.com",
	"kubernetes.io/azure-disk":      "disk.csi.azure.com",
	"kubernetes.io/azure-file":      "file.csi.azure.com",
	"kubernetes.io/cinder":          "cinder.csi.openstack.org",
	"kubernetes.io/gce-pd":          "pd.csi.storage.gke.io",
	"kubernetes.io/portworx-volume": "pxd.portworx.com",
	"kubernetes.io/vsphere-volume":  "csi.vsphere.vmware.com",
}

// MigratedDriver returns the CSI driver that serves a former in-tree provisioner, "" if
// there is none.
func MigratedDriver(provisioner string) string { return migrated[provisioner] }

// Class returns the name of the StorageClass of a claim or a volume, "" if it has none.
func Class(obj object.View) string {
	if name, ok := obj.At("metadata", "annotations", betaStorageClass).Shared().(string); ok {
		return name
	}
	return obj.String("spec", "storageClassName")
}

// HasClass reports whether a claim asks for a StorageClass, which may be "".
func HasClass(claim object.View) bool {
	_, annotated := Annotation(claim, betaStorageClass)
	_, ok := claim.At("spec", "storageClassName").Shared().(string)
	return annotated || ok
}

// IsDefaultClass reports whether a StorageClass is that of claims that ask for none.
func IsDefaultClass(class object.View) bool {
	return class.IsDefaultClass(volumes.DefaultClassAnnotations...)
}

// AttributesClass returns the name of the VolumeAttributesClass of a claim or a volume,
// "" if it has none.
func AttributesClass(obj object.View) string {
	return obj.String("spec", "volumeAttributesClassName")
}

// Annotation returns an annotation, and whether obj has it.
func Annotation(obj object.View, name string) (string, bool) {
	s, ok := obj.At("metadata", "annotations", name).Shared().(string)
	return s, ok
}

// ClaimBound reports whether a claim is bound completely.
func ClaimBound(claim object.View) bool {
	_, completed := Annotation(claim, BindCompleted)
	return completed && claim.String("spec", "volumeName") != ""
}

// Delayed reports whether a class, nil if there is none, binds its claims when a Pod
// uses them.
func Delayed(class *controller.Object) bool {
	return class != nil && class.View().String("volumeBindingMode") == "WaitForFirstConsumer"
}

// BoundTo reports whether a volume refers to a claim.
func BoundTo(volume, claim object.View) bool {
	ref := volume.At("spec", "claimRef")
	if ref.IsNil() || ref.String("name") != claim.String("metadata", "name") || ref.String("namespace") != claim.String("metadata", "namespace") {
		return false
	}
	uid := ref.String("uid")
	return uid == "" || uid == claim.String("metadata", "uid")
}

// OnNode reports whether the node affinity of a volume permits a Node.
func OnNode(volume, node object.View) bool {
	required := volume.At("spec", "nodeAffinity", "required")
	return required.IsNil() || nodes.MatchesSelector(required, node)
}

// Find returns the smallest volume that fits a claim, or the one that refers to it; nil
// if there is none. The node affinity of the volume must permit the node, unless that is
// nothing. Without a node, a delayed claim is matched only with a volume that refers to
// it.
func Find(claim object.View, volumes []*controller.Object, node object.View, delayed bool, excluded map[string]bool) *controller.Object {
	class := Class(claim)
	labels := selector.Labels{}
	if s := selector.FromView(claim.At("spec", "selector")); s != nil {
		var err error
		if labels, err = s.Selector(); err != nil {
			return nil
		}
	}
	var best *controller.Object
	for _, o := range volumes {
		v := o.View()
		bound := BoundTo(v, claim)
		if excluded[o.Name] || !v.IsNil("spec", "claimRef") && !bound || o.Terminating ||
			!Holds(v, claim) || Mode(v) != Mode(claim) || AttributesClass(v) != AttributesClass(claim) {
			continue
		}
		fits := node.IsNil() || OnNode(v, node)
		if bound {
			if !fits {
				return nil
			}
			return o
		}
		if node.IsNil() && delayed || !fits || v.String("status", "phase") != "Available" ||
			!labels.Matches(selector.Map(o.Labels)) || Class(v) != class || !ModesFit(claim, v) {
			continue
		}
		if best == nil || quantity.Compare(Capacity(best.View()), Capacity(v)) > 0 {
			best = o
		}
	}
	return best
}

// Capacity returns the size of a volume.
func Capacity(volume object.View) string {
	return volume.String("spec", "capacity", "storage")
}

// Request returns the size that a claim asks for.
func Request(claim object.View) string {
	return claim.String("spec", "resources", "requests", "storage")
}

// Holds reports whether a volume is as large as a claim asks for.
func Holds(volume, claim object.View) bool {
	return quantity.Compare(Capacity(volume), Request(claim)) >= 0
}

// Mode returns the volumeMode of a claim or a volume.
func Mode(obj object.View) string {
	if mode := obj.String("spec", "volumeMode"); mode != "" {
		return mode
	}
	return "Filesystem"
}

// ModesFit reports whether a volume has all access modes of a claim.
func ModesFit(claim, volume object.View) bool {
	has := volume.Strings("spec", "accessModes")
	for _, mode := range claim.Strings("spec", "accessModes") {
		if !slices.Contains(has, mode) {
			return false
		}
	}
	return true
}

// Refer makes a copy of a volume refer to a claim. It returns nil if the volume refers
// to it already.
func Refer(volume, claim *controller.Object) map[string]any {
	v := volume.View()
	has := BoundTo(v, claim.View())
	if has && v.String("spec", "claimRef", "uid") != "" {
		return nil
	}
	out := v.CopyObject()
	object.Set(out, controller.Reference(claim), "spec", "claimRef")
	if !has {
		object.Set(out, "yes", "metadata", "annotations", BoundByController)
	}
	return out
}
