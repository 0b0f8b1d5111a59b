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
	isDefault := func(class object.View) bool {
		return slices.ContainsFunc(annotations, func(a string) bool {
			return class.String("metadata", "annotations", a) == "true"
		})
	}
	classes := slices.DeleteFunc(r.List(kind, ""), func(class object.View) bool { return !isDefault(class) })
	if len(classes) == 0 {
		return ""
	}
	// Timestamps have one format, so that their texts sort by time. Of several
	// newest classes this is the first by name, as List sorts.
	newest := slices.MinFunc(classes, func(a, b object.View) int {
		return cmp.Compare(b.String("metadata", "creationTimestamp"), a.String("metadata", "creationTimestamp"))
	})
	return newest.String("metadata", "name")
}
