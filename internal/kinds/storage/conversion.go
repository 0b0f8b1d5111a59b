package storage

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

// Conversions returns the conversions of the versions that are not stored.
func Conversions() map[kind.VersionedResource]kind.Conversion {
	return map[kind.VersionedResource]kind.Conversion{
		{GroupVersion: resource.GroupVersion{Group: "storage.k8s.io", Version: "v1alpha1"}, Name: "volumeattributesclasses"}: {},
		{GroupVersion: resource.GroupVersion{Group: "storage.k8s.io", Version: "v1beta1"}, Name: "volumeattributesclasses"}:  {},
	}
}
