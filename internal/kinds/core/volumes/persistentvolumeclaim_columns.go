package volumes

import (
	"github.com/kubefake/kubefake/internal/table"
)

// persistentVolumeClaimCells returns the cells of a PersistentVolumeClaim. The
// cells of its volume are empty if it has none.
func persistentVolumeClaimCells(r table.Row) []any {
	volume, capacity, modes := r.String("spec", "volumeName"), "", ""
	if volume != "" {
		capacity, modes = r.Or("0", "status", "capacity", "storage"), shortAccessModes(r.Obj, "status")
	}
	return []any{
		r.Name(), volumePhase(r), volume, capacity, modes, storageClass(r),
		r.OrUnset("spec", "volumeAttributesClassName"), r.Age(), r.OrUnset("spec", "volumeMode"),
	}
}
