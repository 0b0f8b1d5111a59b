// Package defaultstorageclass is the DefaultStorageClass admission plugin. It
// sets the class of claims for volumes that name none.
//
// See https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass.
package defaultstorageclass

import (
	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Mutator].
type Plugin struct{}

var _ admission.Mutator = Plugin{}

// Name returns "DefaultStorageClass".
func (Plugin) Name() string { return "DefaultStorageClass" }

// Resources returns persistentvolumeclaims.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "persistentvolumeclaims"}}
}

var classKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "storage.k8s.io", Version: "v1"}, Kind: "StorageClass"}

// Mutate sets spec.storageClassName of a new claim to the default class, if
// there is one.
func (Plugin) Mutate(a *admission.Attributes) error {
	if a.Subresource != "" || a.Operation != admission.Create || !volumes.ClaimStorageClass(object.ViewOf(a.Object)).IsNil() {
		return nil
	}
	if name := admission.DefaultClass(a.Reader, classKind, volumes.DefaultClassAnnotations...); name != "" {
		object.Set(a.Object, name, "spec", "storageClassName")
	}
	return nil
}
