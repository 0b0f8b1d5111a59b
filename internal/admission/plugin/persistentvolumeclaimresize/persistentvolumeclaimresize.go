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
	if a.Subresource != "" || a.Operation != admission.Update || quantity.Compare(requestedStorage(object.ViewOf(a.Object)), requestedStorage(a.Old)) <= 0 {
		return nil
	}
	if a.Old.String("status", "phase") != "Bound" {
		return errors.New("Only bound persistent volume claims can be expanded")
	}
	name := volumes.ClaimStorageClass(object.ViewOf(a.Object)).String()
	if name == "" || volumes.ClaimStorageClass(a.Old).String() != name || !a.Reader.Get(classKind, "", name).Bool("allowVolumeExpansion") {
		return errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")
	}
	return nil
}

func requestedStorage(claim object.View) string {
	return claim.String("spec", "resources", "requests", "storage")
}
