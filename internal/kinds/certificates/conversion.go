package certificates

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

// Conversions returns the conversions of the versions that are not stored.
func Conversions() map[kind.VersionedResource]kind.Conversion {
	return map[kind.VersionedResource]kind.Conversion{
		{GroupVersion: resource.GroupVersion{Group: "certificates.k8s.io", Version: "v1alpha1"}, Name: "clustertrustbundles"}: {},
		{GroupVersion: resource.GroupVersion{Group: "certificates.k8s.io", Version: "v1"}, Name: "clustertrustbundles"}:       {},
		{GroupVersion: resource.GroupVersion{Group: "certificates.k8s.io", Version: "v1"}, Name: "podcertificaterequests"}:    {ToStored: requestFromV1, FromStored: requestToV1},
	}
}

func requestFromV1(obj map[string]any) map[string]any { return obj }

// requestToV1 changes nothing: v1 lacks fields of v1beta1, which the codec drops.
func requestToV1(_ int, obj map[string]any) map[string]any { return obj }
