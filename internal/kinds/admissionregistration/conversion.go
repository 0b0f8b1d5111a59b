package admissionregistration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

// Conversions returns the conversions of the versions that are not stored.
func Conversions() map[kind.VersionedResource]kind.Conversion {
	v1 := resource.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"}
	v1beta1 := resource.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1beta1"}
	v1alpha1 := resource.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1alpha1"}
	return map[kind.VersionedResource]kind.Conversion{
		{GroupVersion: v1beta1, Name: "validatingadmissionpolicies"}:       {},
		{GroupVersion: v1beta1, Name: "validatingadmissionpolicybindings"}: {},
		{GroupVersion: v1beta1, Name: "mutatingadmissionpolicies"}:         {},
		{GroupVersion: v1beta1, Name: "mutatingadmissionpolicybindings"}:   {},
		{GroupVersion: v1, Name: "mutatingadmissionpolicies"}:              {},
		{GroupVersion: v1, Name: "mutatingadmissionpolicybindings"}:        {},
		{GroupVersion: v1alpha1, Name: "mutatingadmissionpolicies"}:        {},
		{GroupVersion: v1alpha1, Name: "mutatingadmissionpolicybindings"}:  {},
	}
}
