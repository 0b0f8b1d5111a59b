package storage

import (
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/table"
)

// storageClassCells returns the cells of a StorageClass.
func storageClassCells(r table.Row) []any {
	name := r.NameOfClass(r.Marked)
	if r.Before(behavior.MarksEffectiveDefault) {
		name = r.ClassName(volumes.DefaultClassAnnotations...)
	}
	return []any{name, r.String("provisioner"), r.Or("Delete", "reclaimPolicy"), r.Or("Immediate", "volumeBindingMode"), r.Bool("allowVolumeExpansion"), r.Age()}
}

// effectiveDefault returns the index of the class of claims that name none, -1 if there is none.
func effectiveDefault(classes []object.View) int {
	return object.DefaultClass(classes, volumes.DefaultClassAnnotations...)
}
