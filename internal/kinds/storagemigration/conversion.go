package storagemigration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

// Conversions returns the versions of StorageVersionMigrations that are not stored. They have
// the shape of the one that is.
func Conversions() map[kind.VersionedResource]kind.Conversion {
	return map[kind.VersionedResource]kind.Conversion{
		{GroupVersion: resource.GroupVersion{Group: "storagemigration.k8s.io", Version: "v1"}, Name: "storageversionmigrations"}: {},
	}
}
