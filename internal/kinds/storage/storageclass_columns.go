package storage

import (
	"github.com/kubefake/kubefake/internal/table"
)

// storageClassCells returns the cells of a StorageClass.
func storageClassCells(r table.Row) []any {
	return []any{
		r.ClassName("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"),
		r.String("provisioner"), r.Or("Delete", "reclaimPolicy"), r.Or("Immediate", "volumeBindingMode"), r.Bool("allowVolumeExpansion"), r.Age(),
	}
}
