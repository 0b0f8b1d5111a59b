package admission

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// DefaultClass returns the name of the default class of a kind, as [object.DefaultClass] chooses it
// by the annotations, "" if there is none.
func DefaultClass(r resource.Reader, kind resource.Kind, annotations ...string) string {
	classes := r.List(kind, "")
	i := object.DefaultClass(classes, annotations...)
	if i < 0 {
		return ""
	}
	return classes[i].String("metadata", "name")
}
