package kinds

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

func defaultPersistentVolume(obj map[string]any) {
	spec := child(obj, "spec")
	fill(spec, "persistentVolumeReclaimPolicy", "Retain")
	fill(child(obj, "status"), "phase", "Pending")
	defaultVolumeSpec(spec)
	fill(spec, "volumeMode", "Filesystem")
}

// defaultVolumeSpec completes what persistent volumes and those of attachments
// share.
func defaultVolumeSpec(spec map[string]any) {
	roundList(spec["capacity"])
	defaultSources(spec)
}

// preparePersistentVolume gives a new volume its phase.
func preparePersistentVolume(obj, old map[string]any) {
	if old == nil {
		obj["status"] = map[string]any{"phase": "Pending", "lastPhaseTransitionTime": object.Value(obj, "metadata", "creationTimestamp")}
	}
}

// stampPersistentVolume dates the phase that a volume comes to.
func stampPersistentVolume(obj, old map[string]any, by resource.Author) {
	const date = "lastPhaseTransitionTime"
	if old == nil {
		return
	}
	status, before := child(obj, "status"), object.Map(old, "status")
	switch {
	case same(status, before, "phase"):
		inherit(status, before, date)
	case status[date] == nil, same(status, before, date):
		status[date] = by.Now
	}
}

func defaultClaim(obj map[string]any) {
	fill(child(obj, "status"), "phase", "Pending")
	defaultClaimSpec(child(obj, "spec"))
	roundList(object.Value(obj, "status", "capacity"))
	roundList(object.Value(obj, "status", "allocatedResources"))
}

// defaultClaimSpec completes what claims and their templates share.
func defaultClaimSpec(spec map[string]any) {
	fill(spec, "volumeMode", "Filesystem")
	roundRequirements(spec["resources"])
}

// prepareClaim brings the two ways to name a claim's source in line.
func prepareClaim(obj, old map[string]any) {
	spec, oldSpec := child(obj, "spec"), object.Map(old, "spec")
	if object.String(spec, "dataSourceRef", "namespace") != "" && oldSpec["dataSourceRef"] == nil {
		delete(spec, "dataSourceRef")
	}
	if oldSpec["dataSource"] == nil && oldSpec["dataSourceRef"] == nil && spec["dataSourceRef"] == nil && !isClaimSource(object.Map(spec, "dataSource")) {
		delete(spec, "dataSource")
	}
	source, ref := object.Map(spec, "dataSource"), object.Map(spec, "dataSourceRef")
	switch {
	case source != nil && ref == nil:
		spec["dataSourceRef"] = sameSource(source)
	case source == nil && ref != nil && object.String(ref, "namespace") == "":
		spec["dataSource"] = sameSource(ref)
	}
}

// completeClaim says where a new claim, whose status is empty, begins.
func completeClaim(obj map[string]any) bool {
	child(obj, "status")["phase"] = "Pending"
	return true
}

// isClaimSource tells the sources that claims could always have.
func isClaimSource(source map[string]any) bool {
	group, kind := object.String(source, "apiGroup"), object.String(source, "kind")
	return group == "" && kind == "PersistentVolumeClaim" || group == "snapshot.storage.k8s.io" && kind == "VolumeSnapshot"
}

// sameSource is a source in the other of the two forms.
func sameSource(source map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range []string{"apiGroup", "kind", "name"} {
		object.Keep(out, source, name)
	}
	return out
}

func defaultStorageClass(obj map[string]any) {
	fill(obj, "reclaimPolicy", "Delete")
	fill(obj, "volumeBindingMode", "Immediate")
}

func defaultCSIDriver(obj map[string]any) {
	spec := child(obj, "spec")
	fill(spec, "attachRequired", true)
	for _, name := range []string{"podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"} {
		fill(spec, name, false)
	}
	fill(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType")
	if len(object.List(spec, "volumeLifecycleModes")) == 0 {
		spec["volumeLifecycleModes"] = []any{"Persistent"}
	}
}

// prepareCSIDriver counts the changes of a driver, whose generation starts with
// the first.
func prepareCSIDriver(obj, old map[string]any) {
	spec := child(obj, "spec")
	without(spec, object.Map(old, "spec"), "preventPodSchedulingIfMissing")
	if old != nil && !validation.Equal(obj["spec"], old["spec"]) {
		generation, _ := object.Int(old, "metadata", "generation")
		object.Meta(obj)["generation"] = generation + 1
	}
}

func defaultVolumeAttachment(obj map[string]any) {
	if spec := object.Map(obj, "spec", "source", "inlineVolumeSpec"); spec != nil {
		defaultVolumeSpec(spec)
	}
}
