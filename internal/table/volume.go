package table

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// volumePrinters print the kinds of storage.
var volumePrinters = map[string]printer{
	"PersistentVolume": func(r row) []any {
		claim := ""
		if r.has("spec", "claimRef") {
			claim = r.str("spec", "claimRef", "namespace") + "/" + r.str("spec", "claimRef", "name")
		}
		return []any{
			r.name(), r.or("0", "spec", "capacity", "storage"), accessModes(r.obj, "spec"), r.str("spec", "persistentVolumeReclaimPolicy"),
			volumePhase(r), claim, storageClass(r), r.orUnset("spec", "volumeAttributesClassName"), r.str("status", "reason"), r.age(),
			r.orUnset("spec", "volumeMode"),
		}
	},
	"PersistentVolumeClaim": func(r row) []any {
		volume, capacity, modes := r.str("spec", "volumeName"), "", ""
		if volume != "" {
			capacity, modes = r.or("0", "status", "capacity", "storage"), accessModes(r.obj, "status")
		}
		return []any{
			r.name(), volumePhase(r), volume, capacity, modes, storageClass(r),
			r.orUnset("spec", "volumeAttributesClassName"), r.age(), r.orUnset("spec", "volumeMode"),
		}
	},
	"storage.k8s.io/StorageClass": func(r row) []any {
		return []any{
			r.classNameWithDefault("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"),
			r.str("provisioner"), r.or("Delete", "reclaimPolicy"), r.or("Immediate", "volumeBindingMode"), r.bool("allowVolumeExpansion"), r.age(),
		}
	},
	"storage.k8s.io/VolumeAttributesClass": func(r row) []any { return []any{r.name(), r.str("driverName"), r.age()} },
	"storage.k8s.io/CSINode":               func(r row) []any { return []any{r.name(), r.size("spec", "drivers"), r.age()} },
	"storage.k8s.io/CSIDriver": func(r row) []any {
		attach, tokens := true, unset
		if r.has("spec", "attachRequired") {
			attach = r.bool("spec", "attachRequired")
		}
		if r.has("spec", "tokenRequests") {
			var audiences []string
			for _, t := range objects(r.list("spec", "tokenRequests")) {
				audiences = append(audiences, object.String(t, "audience"))
			}
			tokens = strings.Join(audiences, ",")
		}
		modes := strings.Join(object.Strings(r.obj, "spec", "volumeLifecycleModes"), ",")
		return []any{
			r.name(), attach, r.bool("spec", "podInfoOnMount"), r.bool("spec", "storageCapacity"), tokens,
			r.bool("spec", "requiresRepublish"), or(modes, none), r.age(),
		}
	},
	"storage.k8s.io/VolumeAttachment": func(r row) []any {
		return []any{
			r.name(), r.str("spec", "attacher"), r.str("spec", "source", "persistentVolumeName"), r.str("spec", "nodeName"),
			r.bool("status", "attached"), r.age(),
		}
	},
	"storagemigration.k8s.io/StorageVersionMigration": func(r row) []any {
		resource, status := r.str("spec", "resource", "resource"), "Unknown"
		if group := r.str("spec", "resource", "group"); group != "" {
			resource += "." + group
		}
		for _, c := range objects(r.list("status", "conditions")) {
			if typ := object.String(c, "type"); object.String(c, "status") == "True" && slices.Contains([]string{"Running", "Failed", "Succeeded"}, typ) {
				status = typ
			}
		}
		return []any{r.name(), resource, status}
	},
	"internal.apiserver.k8s.io/StorageVersion": func(r row) []any {
		var versions []string
		for _, v := range objects(r.list("status", "storageVersions")) {
			versions = append(versions, object.String(v, "apiServerID")+"="+object.String(v, "encodingVersion"))
		}
		return []any{r.name(), r.orUnset("status", "commonEncodingVersion"), or(joinFirst(versions, 3, ","), unset), r.age()}
	},
}

// orUnset returns the string at the path, which may be empty, "<unset>" if
// there is none.
func (r row) orUnset(path ...string) string {
	if !r.has(path...) {
		return unset
	}
	return r.str(path...)
}

// classNameWithDefault returns the name of a class, marked if an annotation
// makes it the default one.
func (r row) classNameWithDefault(annotations ...string) string {
	if slices.ContainsFunc(annotations, func(a string) bool { return r.annotation(a) == "true" }) {
		return r.name() + " (default)"
	}
	return r.name()
}

func volumePhase(r row) string {
	if r.deleted() {
		return "Terminating"
	}
	return r.str("status", "phase")
}

// storageClass returns the storage class, of the old annotation if there is
// one.
func storageClass(r row) string {
	const old = "volume.beta.kubernetes.io/storage-class"
	if r.has("metadata", "annotations", old) {
		return r.annotation(old)
	}
	return r.str("spec", "storageClassName")
}

// accessModes returns the abbreviated access modes in a fixed order.
func accessModes(obj map[string]any, part string) string {
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
