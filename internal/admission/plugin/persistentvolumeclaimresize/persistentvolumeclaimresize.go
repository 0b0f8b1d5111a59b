// Package persistentvolumeclaimresize is the PersistentVolumeClaimResize
// admission plugin. Only bound claims of a StorageClass that allows expansion
// can grow.
//
// See https://kubernetes.io/docs/concepts/storage/persistent-volumes/#expanding-persistent-volumes-claims.
package persistentvolumeclaimresize

import (
	"errors"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Validator].
type Plugin struct{}

var _ admission.Validator = Plugin{}

// Name returns "PersistentVolumeClaimResize".
func (Plugin) Name() string { return "PersistentVolumeClaimResize" }

// Resources returns persistentvolumeclaims.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "persistentvolumeclaims"}}
}

var classKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "storage.k8s.io", Version: "v1"}, Kind: "StorageClass"}

// Validate checks an update that requests more storage.
func (Plugin) Validate(a *admission.Attributes) error {
	if a.Subresource != "" || a.Operation != admission.Update || quantity.Compare(requestedStorage(a.Object), requestedStorage(a.Old)) <= 0 {
		return nil
	}
	if object.String(a.Old, "status", "phase") != "Bound" {
		return errors.New("Only bound persistent volume claims can be expanded")
	}
	name, _ := volumes.ClaimStorageClass(a.Object).(string)
	if name == "" || volumes.ClaimStorageClass(a.Old) != any(name) || !object.Bool(a.Reader.Get(classKind, "", name), "allowVolumeExpansion") {
		return errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")
	}
	return nil
}

func requestedStorage(claim map[string]any) string {
	return object.String(claim, "spec", "resources", "requests", "storage")
}
