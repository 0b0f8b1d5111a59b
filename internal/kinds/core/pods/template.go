package pods

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// PrepareTemplate drops from the pod template what disabled feature gates hold
// back.
func PrepareTemplate(obj, old map[string]any) {
	if spec := object.Map(obj, "spec", "template", "spec"); spec != nil {
		DropDisabledPodFields(spec, object.Map(old, "spec", "template", "spec"))
	}
}

// WarnOfPodNames warns of a new workload whose name its pods cannot have for a
// host name.
func WarnOfPodNames(obj, old map[string]any) []string {
	messages := validation.DNS1123Label(object.String(obj, "metadata", "name"))
	if old != nil || len(messages) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", messages)}
}

func WarnOfTemplate(obj, old map[string]any) []string {
	if old != nil && SameGeneration(obj, old) {
		return nil
	}
	return WarnPodTemplate(object.Map(obj, "spec", "template"), validation.NewPath("spec").Child("template"))
}

// SameGeneration reports whether a write changed nothing that counts.
func SameGeneration(obj, old map[string]any) bool {
	return object.Value(obj, "metadata", "generation") == object.Value(old, "metadata", "generation")
}

// WarnWorkload warns of a workload's name, and of its template unless that is as
// it was.
func WarnWorkload(obj, old map[string]any) []string {
	return append(WarnOfPodNames(obj, old), WarnOfTemplate(obj, old)...)
}
