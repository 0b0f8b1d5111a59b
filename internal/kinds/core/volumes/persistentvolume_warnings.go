package volumes

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// deprecatedSources are the volume sources that no longer work, with the names that
// the warnings use.
var deprecatedSources = []struct{ name, label, why string }{
	{"cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
	{"photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
	{"scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
	{"storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
	{"glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
	{"rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"},
}

const classAnnotation = "volume.beta.kubernetes.io/storage-class"

func warnPersistentVolume(obj map[string]any, _ object.View) []string {
	var warnings []string
	warn := func(at *validation.Path, text string) { warnings = append(warnings, fmt.Sprintf("%s: %s", at, text)) }
	root := validation.View{Obj: obj}
	annotations, spec := root.Field("metadata").Field("annotations"), root.Field("spec")
	if annotations.Has(classAnnotation) {
		warn(annotations.Path.Key(classAnnotation), `deprecated since v1.8; use "storageClassName" attribute instead`)
	}
	if annotations.Has(mountAnnotation) {
		warn(annotations.Path.Key(mountAnnotation), `deprecated since v1.31; use "mountOptions" attribute instead`)
	}
	if spec.String("persistentVolumeReclaimPolicy") == "Recycle" {
		warn(spec.At("persistentVolumeReclaimPolicy"), "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.")
	}
	for _, term := range spec.Field("nodeAffinity").Field("required").Each("nodeSelectorTerms") {
		for _, e := range term.Each("matchExpressions") {
			if key := e.String("key"); nodes.DeprecatedLabel(key) != "" {
				warn(e.At("key"), key+" is "+nodes.DeprecatedLabel(key))
			}
		}
	}
	for _, p := range deprecatedSources {
		if spec.Has(p.name) {
			warn(spec.At(p.label), p.why)
		}
	}
	return warnings
}
