package networking

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

// Conversions returns the conversions of the versions that are not stored.
func Conversions() map[kind.VersionedResource]kind.Conversion {
	v1beta1 := resource.GroupVersion{Group: "networking.k8s.io", Version: "v1beta1"}
	return map[kind.VersionedResource]kind.Conversion{
		{GroupVersion: v1beta1, Name: "ipaddresses"}:  {},
		{GroupVersion: v1beta1, Name: "servicecidrs"}: {},
	}
}
