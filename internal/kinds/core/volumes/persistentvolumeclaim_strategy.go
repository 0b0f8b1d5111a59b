package volumes

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
)

// prepareClaim drops unsupported data sources and sets dataSource and dataSourceRef
// to the same object.
func prepareClaim(obj map[string]any, old object.View) {
	spec, oldSpec := object.EnsureMap(obj, "spec"), old.At("spec")
	if object.String(spec, "dataSourceRef", "namespace") != "" && oldSpec.IsNil("dataSourceRef") {
		object.Remove(spec, "dataSourceRef")
	}
	if oldSpec.IsNil("dataSource") && oldSpec.IsNil("dataSourceRef") && spec["dataSourceRef"] == nil && !isClaimSource(object.Map(spec, "dataSource")) {
		object.Remove(spec, "dataSource")
	}
	source, ref := object.Map(spec, "dataSource"), object.Map(spec, "dataSourceRef")
	switch {
	case source != nil && ref == nil:
		spec["dataSourceRef"] = copySource(source)
	case source == nil && ref != nil && object.String(ref, "namespace") == "":
		spec["dataSource"] = copySource(ref)
	}
}

// setPendingPhase sets the phase of a claim that has none, and reports whether it does.
func setPendingPhase(obj map[string]any) bool {
	if object.String(obj, "status", "phase") != "" {
		return false
	}
	object.Own(obj, "status")["phase"] = "Pending"
	return true
}

// isClaimSource reports whether a data source is a PersistentVolumeClaim or a
// VolumeSnapshot.
func isClaimSource(source map[string]any) bool {
	group, kind := object.String(source, "apiGroup"), object.String(source, "kind")
	return group == "" && kind == "PersistentVolumeClaim" || group == "snapshot.storage.k8s.io" && kind == "VolumeSnapshot"
}

// copySource returns a dataSource as dataSourceRef, or the reverse.
func copySource(source map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range []string{"apiGroup", "kind", "name"} {
		object.Keep(out, object.ViewOf(source), name)
	}
	return out
}

var persistentVolumeClaimStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		Default:                  DefaultClaim,
		Prepare:                  prepareClaim,
		ReadBack:                 setPendingPhase,
		Validate:                 validateClaim,
		WarningsOnWrite:          warnClaim,
	},
	ValidatedAsNewUntil: behavior.UpdatesOnce,
	Status:              kind.Status{Validate: validateClaimStatus},
	Cells:               persistentVolumeClaimCells,
}

// DefaultClassAnnotations are the annotations of which one marks a StorageClass as the default.
var DefaultClassAnnotations = []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"}

// ClaimStorageClass returns the name of the claim's StorageClass, from the beta
// annotation or else from its spec, or nil if it has none.
func ClaimStorageClass(claim object.View) object.View {
	if name := claim.At("metadata", "annotations", "volume.beta.kubernetes.io/storage-class"); !name.IsNil() {
		return name
	}
	return claim.At("spec", "storageClassName")
}
