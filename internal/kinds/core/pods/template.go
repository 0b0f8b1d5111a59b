package pods

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// WarnWorkloadName warns about the name of a new workload that is not a DNS label.
func WarnWorkloadName(obj map[string]any, old object.View) []string {
	messages := validation.DNS1123Label(object.String(obj, "metadata", "name"))
	if !old.IsNil() || len(messages) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", messages)}
}

// WarnWorkloadTemplate warns about the template of a workload if the generation changes.
func WarnWorkloadTemplate(r validation.Release, obj map[string]any, old object.View) []string {
	if !old.IsNil() && SameGeneration(obj, old) {
		return nil
	}
	return WarnPodTemplate(r, object.Map(obj, "spec", "template"), validation.NewPath("spec").Child("template"))
}

// SameGeneration reports whether both objects have the same generation.
func SameGeneration(obj map[string]any, old object.View) bool {
	return old.At("metadata", "generation").EqualTo(object.Value(obj, "metadata", "generation"))
}

// WarnWorkload warns about the name of a workload, and about its template if the
// generation changes.
func WarnWorkload(r validation.Release, obj map[string]any, old object.View) []string {
	return append(WarnWorkloadName(obj, old), WarnWorkloadTemplate(r, obj, old)...)
}
