package object

import (
	"cmp"
	"slices"
)

// DefaultClass returns the index of the default among classes, such as StorageClasses: the newest
// that has the value "true" in one of the annotations, of several the first by name. It returns -1 if
// there is none.
func DefaultClass(classes []View, annotations ...string) int {
	found := -1
	for i, class := range classes {
		if class.IsDefaultClass(annotations...) && (found < 0 || compareClasses(class, classes[found]) < 0) {
			found = i
		}
	}
	return found
}

// IsDefaultClass reports whether a class has the value "true" in one of the annotations.
func (v View) IsDefaultClass(annotations ...string) bool {
	return slices.ContainsFunc(annotations, func(a string) bool { return v.String("metadata", "annotations", a) == "true" })
}

// compareClasses orders classes by time, the newest first, and by name. Timestamps have one format, so
// that their texts sort by time.
func compareClasses(a, b View) int {
	return cmp.Or(
		cmp.Compare(b.String("metadata", "creationTimestamp"), a.String("metadata", "creationTimestamp")),
		cmp.Compare(a.String("metadata", "name"), b.String("metadata", "name")),
	)
}
