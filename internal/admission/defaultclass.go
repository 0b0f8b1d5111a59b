package admission

import (
	"cmp"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// DefaultClass returns the name of the default class of a kind, such as
// StorageClass: the newest one that has the value "true" in one of the
// annotations. It returns "" if there is none.
func DefaultClass(r resource.Reader, kind resource.Kind, annotations ...string) string {
	isDefault := func(class map[string]any) bool {
		return slices.ContainsFunc(annotations, func(a string) bool {
			return object.String(class, "metadata", "annotations", a) == "true"
		})
	}
	classes := slices.DeleteFunc(r.List(kind, ""), func(class map[string]any) bool { return !isDefault(class) })
	if len(classes) == 0 {
		return ""
	}
	// Timestamps have one format, so that their texts sort by time. Of several
	// newest classes this is the first by name, as List sorts.
	newest := slices.MinFunc(classes, func(a, b map[string]any) int {
		return cmp.Compare(object.String(b, "metadata", "creationTimestamp"), object.String(a, "metadata", "creationTimestamp"))
	})
	return object.String(newest, "metadata", "name")
}
