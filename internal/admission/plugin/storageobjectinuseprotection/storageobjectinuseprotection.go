// Package storageobjectinuseprotection is the StorageObjectInUseProtection
// admission plugin. Its finalizers keep volumes and their claims while they are
// in use.
//
// See https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection.
package storageobjectinuseprotection

import (
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Mutator].
type Plugin struct{}

var _ admission.Mutator = Plugin{}

// Name returns "StorageObjectInUseProtection".
func (Plugin) Name() string { return "StorageObjectInUseProtection" }

var (
	volumes = status.GroupResource{Resource: "persistentvolumes"}
	claims  = status.GroupResource{Resource: "persistentvolumeclaims"}
	classes = status.GroupResource{Group: "storage.k8s.io", Resource: "volumeattributesclasses"}
)

// Resources returns persistentvolumes, persistentvolumeclaims and
// volumeattributesclasses.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{volumes, claims, classes}
}

// Mutate adds the finalizer of its resource to a new object.
func (Plugin) Mutate(a *admission.Attributes) error {
	if a.Subresource != "" || a.Operation != admission.Create {
		return nil
	}
	var finalizer string
	switch a.GroupResource() {
	case volumes:
		finalizer = "kubernetes.io/pv-protection"
	case claims:
		finalizer = "kubernetes.io/pvc-protection"
	case classes:
		if r := a.Access.Release(); !r.Has(behavior.ProtectsVolumeAttributesClasses) || !r.Enabled("VolumeAttributesClass") {
			return nil
		}
		finalizer = "kubernetes.io/vac-protection"
	}
	finalizers := object.List(a.Object, "metadata", "finalizers")
	if !slices.Contains(finalizers, any(finalizer)) {
		object.Set(a.Object, append(finalizers, finalizer), "metadata", "finalizers")
	}
	return nil
}
