package volumes

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// persistentVolumeCells returns the cells of a PersistentVolume.
func persistentVolumeCells(r table.Row) []any {
	claim := ""
	if r.Has("spec", "claimRef") {
		claim = r.String("spec", "claimRef", "namespace") + "/" + r.String("spec", "claimRef", "name")
	}
	return []any{
		r.Name(), r.Or("0", "spec", "capacity", "storage"), shortAccessModes(r.Obj, "spec"), r.String("spec", "persistentVolumeReclaimPolicy"),
		volumePhase(r), claim, storageClass(r), r.OrUnset("spec", "volumeAttributesClassName"), r.String("status", "reason"), r.Age(),
		r.OrUnset("spec", "volumeMode"),
	}
}

// volumePhase returns the phase of a volume or a claim.
func volumePhase(r table.Row) string {
	if r.Deleted() {
		return "Terminating"
	}
	return r.String("status", "phase")
}

// storageClass returns the storage class of a volume or a claim. The old annotation
// has precedence over spec.storageClassName.
func storageClass(r table.Row) string {
	const old = "volume.beta.kubernetes.io/storage-class"
	if r.Has("metadata", "annotations", old) {
		return r.Annotation(old)
	}
	return r.String("spec", "storageClassName")
}

// shortAccessModes returns the abbreviated access modes of spec or status, in a fixed order.
func shortAccessModes(obj map[string]any, part string) string {
	modes := object.Strings(obj, part, "accessModes")
	var out []string
	for _, m := range []struct{ mode, short string }{
		{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"},
	} {
		if slices.Contains(modes, m.mode) {
			out = append(out, m.short)
		}
	}
	return strings.Join(out, ",")
}
