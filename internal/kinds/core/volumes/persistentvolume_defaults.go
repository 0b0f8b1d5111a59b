package volumes

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
)

func defaultPersistentVolume(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	object.SetDefault(spec, "persistentVolumeReclaimPolicy", "Retain")
	object.SetDefault(object.EnsureMap(obj, "status"), "phase", "Pending")
	DefaultVolumeSpec(spec)
	object.SetDefault(spec, "volumeMode", "Filesystem")
}

// DefaultVolumeSpec sets the defaults that the spec of a PersistentVolume and the
// inline volume of a VolumeAttachment share.
func DefaultVolumeSpec(spec map[string]any) {
	quantity.RoundList(spec["capacity"])
	DefaultSources(spec)
}
