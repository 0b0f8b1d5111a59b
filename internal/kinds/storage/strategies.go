// Package storage has the strategies of the storage.k8s.io group: StorageClasses, VolumeAttachments, CSI objects
// and VolumeAttributesClasses.
package storage

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"csidrivers.storage.k8s.io":              csiDriverStrategy,
		"csinodes.storage.k8s.io":                csiNodeStrategy,
		"csistoragecapacities.storage.k8s.io":    csiStorageCapacityStrategy,
		"storageclasses.storage.k8s.io":          storageClassStrategy,
		"volumeattachments.storage.k8s.io":       volumeAttachmentStrategy,
		"volumeattributesclasses.storage.k8s.io": volumeAttributesClassStrategy,
	}
}
